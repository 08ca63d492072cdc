/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * routine.c: GT.M is called through a routine of M. It is written into the database's folder with the tables that say
 * how C calls M (call-ins) and how M calls C back (call-outs), and compiled there.
 *
 * A value is read with $GET and a default. The default could be a value too, so what gives it is read again with
 * another default: only what is missing gives both. On a miss `value` is left undefined, and C sees no answer.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "gtm_adapter.h"

static const char routine[] =
    "kvdyno ; what kvdyno asks of GT.M\n"
    "start\n"
    " if $data(^k) do &kvdyno.rewind()\n"
    " do &kvdyno.rewind()\n"
    " quit\n"
    "get(key,value)\n"
    " set value=$get(^k(key),\"<missing 1>\") quit:value'=\"<missing 1>\"\n"
    " set value=$get(^k(key),\"<missing 2>\") kill:value=\"<missing 2>\" value\n"
    " quit\n"
    "put(key,value)\n"
    " set ^k(key)=value\n"
    " quit\n"
    "putnow(key,value)\n"
    " set ^k(key)=value view \"JNLWAIT\"\n"
    " quit\n"
    "remove(key)\n"
    " kill ^k(key)\n"
    " quit\n"
    "removenow(key)\n"
    " kill ^k(key) view \"JNLWAIT\"\n"
    " quit\n"
    "forward(key,found,value) ; the record of the key or the first one after it\n"
    " do get(key,.value) if $data(value) set found=key quit\n"
    " do next(key,.found,.value)\n"
    " quit\n"
    "backward(key,found,value)\n"
    " do get(key,.value) if $data(value) set found=key quit\n"
    " do previous(key,.found,.value)\n"
    " quit\n"
    "next(key,found,value) ; whose record somebody removes before it is read is passed over\n"
    " set found=key\n"
    " for  set found=$order(^k(found)) quit:found=\"\"  set value=$get(^k(found),\"<missing 1>\")"
    " quit:value'=\"<missing 1>\"  do get(found,.value) quit:$data(value)\n"
    " quit\n"
    "previous(key,found,value)\n"
    " set found=key\n"
    " for  set found=$order(^k(found),-1) quit:found=\"\"  set value=$get(^k(found),\"<missing 1>\")"
    " quit:value'=\"<missing 1>\"  do get(found,.value) quit:$data(value)\n"
    " quit\n"
    "write(id) ; a batch; GT.M starts it again if another process was faster\n"
    " new kind,key,value,$etrap set $etrap=\"trollback:$tlevel\"\n"
    " tstart ():(serial:transactionid=id)\n"
    " do &kvdyno.rewind()\n"
    " for  set kind=$&kvdyno.step(.key,.value) quit:'kind  set:kind=1 ^k(key)=value kill:kind=2 ^k(key)\n"
    " tcommit\n"
    " quit\n"
    "readmodifywrite(key,id)\n"
    " new there,value,$etrap set $etrap=\"trollback:$tlevel\"\n"
    " tstart ():(serial:transactionid=id)\n"
    " do get(key,.value) set there=$data(value) set:'there value=\"\"\n"
    " if $&kvdyno.change(there,.value) trollback  quit\n"
    " set ^k(key)=value\n"
    " tcommit\n"
    " quit\n"
    "transact(id) ; a transaction of the caller's, who is told of a restart: only he can begin again\n"
    " new there,ask,key,found,value,$etrap set $etrap=\"trollback:$tlevel\"\n"
    " set there=0,(key,value)=\"\"\n"
    " tstart ():(serial:transactionid=id)\n"
    " if $trestart trollback  quit 0\n"
    " for  set ask=$&kvdyno.turn(there,.key,.value) quit:ask<2  do\n"
    " . if ask=2 do get(key,.value)\n"
    " . if ask=3 set ^k(key)=value\n"
    " . if ask=4 kill ^k(key)\n"
    " . if ask=5 do forward(key,.key,.value)\n"
    " . if ask=6 do backward(key,.key,.value)\n"
    " . if ask=7 do next(key,.key,.value)\n"
    " . if ask=8 do previous(key,.key,.value)\n"
    " . set there=$data(value) set:'there value=\"\"\n"
    " if ask tcommit  quit 1\n"
    " trollback\n"
    " quit 1\n"
    "flush\n"
    " view \"FLUSH\":\"DEFAULT\" view \"DBSYNC\":\"DEFAULT\"\n"
    " quit\n"
    "statistics(text)\n"
    " set text=$view(\"GVSTAT\",\"DEFAULT\")\n"
    " quit\n"
    "sync ; a process of its own: flushes the journal until it is told to end\n"
    " new line,pause set pause=$zcmdline/1000\n"
    " if $data(^k)\n"
    " for  read line:pause quit:line=\"end\"!$zeof  view \"JNLFLUSH\":\"DEFAULT\"\n"
    " if line'=\"end\",$zsigproc($job,9) ; the writer died: nobody may close the database as if it were whole\n"
    " quit\n";

static const char calls[] =
#define LINE(call, signature) #call ": " signature "\n"
    GT_CALLS(LINE)
#undef LINE
    ;

/* The library that these are in comes first: this adapter. */
static const char call_outs[] = "rewind: void kvdyno_gtm_rewind()\n"
                                "step: gtm_int_t kvdyno_gtm_step(O:gtm_string_t*[1],O:gtm_string_t*[1])\n"
                                "change: gtm_int_t kvdyno_gtm_change(I:gtm_int_t,IO:gtm_string_t*)\n"
                                "turn: gtm_int_t kvdyno_gtm_turn(I:gtm_int_t,IO:gtm_string_t*,IO:gtm_string_t*)\n";

bool gt_write_file(const char *folder, const char *name, const char *text, kvdyno_text *error)
{
    char path[PATH_MAX];
    gt_path(path, folder, name);
    FILE *file = fopen(path, "we");
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file))
        written = false;
    if (!written)
        say(error, "cannot write %s: %s", path, strerror(errno));
    return written;
}

static bool write_call_outs(const char *folder, kvdyno_text *error)
{
    char text[PATH_MAX + sizeof call_outs], adapter[PATH_MAX];
    if (!gt_own_file(adapter)) {
        say(error, "cannot find the file of this adapter");
        return false;
    }
    snprintf(text, sizeof text, "%s\n%s", adapter, call_outs);
    return gt_write_file(folder, "kvdyno.xc", text, error);
}

static bool holds(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX], found[2 * sizeof routine];
    gt_path(path, folder, name);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(found, 1, sizeof found, file) : 0;
    if (file)
        fclose(file);
    return file && size == strlen(text) && memcmp(found, text, size) == 0;
}

static bool compile(const gt_installation *installation, const char *folder, kvdyno_text *error)
{
    char source[PATH_MAX], object[PATH_MAX + sizeof "-object="], said[GT_SAID];
    gt_path(source, folder, "kvdyno.m");
    snprintf(object, sizeof object, "-object=%s/kvdyno.o", folder);
    bool compiled = gt_run(installation, folder, "mumps", (const char *[]){object, source, NULL}, NULL, said);
    if (!compiled)
        say(error, "GT.M does not compile its routine: %s", gt_gist(said));
    return compiled;
}

/* An object that is missing GT.M makes itself. */
bool gt_write_files(const gt_installation *installation, const char *folder, kvdyno_text *error)
{
    if (!gt_write_file(folder, "kvdyno.ci", calls, error) || !write_call_outs(folder, error))
        return false;
    return holds(folder, "kvdyno.m", routine) ||
           (gt_write_file(folder, "kvdyno.m", routine, error) && compile(installation, folder, error));
}
