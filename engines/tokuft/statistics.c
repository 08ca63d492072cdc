/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * statistics.c: TokuFT's own figures, its "engine status", under the legends that it gives them.
 */
#include "tokuft.h"

/* Legends are like "cachetable: miss": what stands before the colon is the topic. */
static void say_row(const tokuft_library *library, const struct __toku_engine_status_row *row, kvdyno_emit emit,
                    void *context)
{
    char topic[64] = "engine status";
    const char *name = split_legend(row->legend, topic);
    switch (row->type) {
    case FS_STATE:
    case UINT64:
    case UNIXTIME:
        emitf(emit, context, topic, name, "%" PRIu64, row->value.num);
        break;
    case TOKUTIME: /* in ticks of the processor's clock */
        emitf(emit, context, topic, name, "%" PRIu64 " ticks", row->value.num);
        break;
    case PARCOUNT:
        if (library->read_counter && row->value.parcount)
            emitf(emit, context, topic, name, "%" PRIu64, library->read_counter(row->value.parcount));
        break;
    case DOUBLE:
        emitf(emit, context, topic, name, "%g", row->value.dnum);
        break;
    case CHARSTR:
        if (row->value.str && *row->value.str)
            emit(context, topic, name, row->value.str);
        break;
    }
}

static int say_status(const kvdyno_database *database, kvdyno_emit emit, void *context)
{
    DB_ENV *env = database->env;
    uint64_t most = 0, count = 0, panic = 0;
    fs_redzone_state redzone;
    char panic_text[256];
    int code = env->get_engine_status_num_rows(env, &most);
    TOKU_ENGINE_STATUS_ROW rows = code ? NULL : calloc(most, sizeof *rows);
    if (!rows)
        return code ? code : ENOMEM;
    code = env->get_engine_status(env, rows, most, &count, &redzone, &panic, panic_text, sizeof panic_text,
                                  TOKU_ENGINE_STATUS);
    for (uint64_t i = 0; code == 0 && i < count; i++)
        say_row(&database->library, &rows[i], emit, context);
    free(rows);
    return code;
}

static int say_table(DB *db, kvdyno_emit emit, void *context)
{
    TOKU_DB_FRAGMENTATION_S table;
    int code = db->get_fragmentation(db, &table);
    if (code != 0)
        return code;
    const figure figures[] = {
        {"file_size_bytes", table.file_size_bytes},
        {"data_bytes", table.data_bytes},
        {"checkpoint_bytes_additional", table.checkpoint_bytes_additional},
        {"unused_bytes", table.unused_bytes},
    };
    emit_figures("table", figures, sizeof figures / sizeof *figures, emit, context);
    return 0;
}

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    int code = say_status(database, emit, context);
    if (code == 0)
        code = say_table(database->db, emit, context);
    return code ? KVDYNO_ERROR : KVDYNO_OK;
}
