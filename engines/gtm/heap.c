/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * heap.c: GT.M's memory. At its end GT.M frees nothing, since the process ends with it. Here it may not, so the
 * library's own calls of malloc and free, and of mmap and munmap, are led to functions that remember what there is,
 * some dozen large pieces, and the rest is given back when the library is unloaded. If the library's table of calls is
 * not as expected, GT.M uses malloc itself, and each opening takes a quarter of a megabyte for good.
 */
#define _GNU_SOURCE
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gtm_adapter.h"

typedef struct gt_piece {
    void *at;
    size_t mapped; /* bytes; 0: it came from malloc */
} gt_piece;

static gt_piece *pieces;
static size_t count, capacity;

static bool remember(void *at, size_t mapped)
{
    if (count == capacity) {
        size_t more = capacity ? 2 * capacity : 64;
        gt_piece *longer = realloc(pieces, more * sizeof *pieces);
        if (!longer)
            return false;
        pieces = longer;
        capacity = more;
    }
    pieces[count++] = (gt_piece){at, mapped};
    return true;
}

static void forget(void *at)
{
    for (size_t i = count; i-- > 0;)
        if (pieces[i].at == at) {
            pieces[i] = pieces[--count];
            break;
        }
}

static void *take(size_t size)
{
    void *piece = malloc(size);
    if (piece && !remember(piece, 0)) {
        free(piece);
        return NULL;
    }
    return piece;
}

/* Memory that is not among the pieces came from the C library, and goes back there too. */
static void give(void *piece)
{
    forget(piece);
    free(piece);
}

/* The compiled routine's memory; files are mapped as they would be. */
static void *map(void *wish, size_t size, int protection, int flags, int file, off_t offset)
{
    void *piece = mmap(wish, size, protection, flags, file, offset);
    if (piece != MAP_FAILED && file < 0 && flags & MAP_PRIVATE)
        remember(piece, size); /* if it cannot, the piece stays */
    return piece;
}

/* Of a piece that is given back in part nothing is remembered: what is left of it stays. */
static int unmap(void *piece, size_t size)
{
    for (size_t i = count; i-- > 0;)
        if ((char *)pieces[i].at < (char *)piece + size && (char *)piece < (char *)pieces[i].at + pieces[i].mapped)
            pieces[i] = pieces[--count];
    return munmap(piece, size);
}

void gt_heap_end(void)
{
    while (count > 0) {
        const gt_piece piece = pieces[--count];
        if (piece.mapped)
            munmap(piece.at, piece.mapped);
        else
            free(piece.at);
    }
    free(pieces);
    pieces = NULL;
    capacity = 0;
}

static ElfW(Addr) entry(const struct link_map *map, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *dynamic = map->l_ld; dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == tag)
            return dynamic->d_un.d_ptr;
    return 0;
}

/* Where the library keeps the address of a function that it imports. */
static void **slot_of(const struct link_map *map, const char *name)
{
    const ElfW(Rela) *calls = (const void *)entry(map, DT_JMPREL);
    const ElfW(Sym) *symbols = (const void *)entry(map, DT_SYMTAB);
    const char *names = (const void *)entry(map, DT_STRTAB);
    if (!calls || !symbols || !names || entry(map, DT_PLTREL) != DT_RELA)
        return NULL;
    for (size_t i = 0; i < entry(map, DT_PLTRELSZ) / sizeof *calls; i++)
        if (strcmp(names + symbols[ELF64_R_SYM(calls[i].r_info)].st_name, name) == 0)
            return (void **)(map->l_addr + calls[i].r_offset);
    return NULL;
}

static bool lead(void **slot, void *function)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (mprotect((void *)((uintptr_t)slot & ~(page - 1)), page, PROT_READ | PROT_WRITE))
        return false;
    *slot = function;
    return true;
}

bool gt_heap_begin(void *handle)
{
    struct link_map *map_of;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map_of))
        return false;
    void **to_malloc = slot_of(map_of, "malloc"), **to_free = slot_of(map_of, "free");
    void **to_mmap = slot_of(map_of, "mmap64"), **to_munmap = slot_of(map_of, "munmap");
    bool maps = to_mmap && to_munmap && lead(to_munmap, (void *)unmap) && lead(to_mmap, (void *)map);
    return to_malloc && to_free && lead(to_free, (void *)give) && lead(to_malloc, (void *)take) && maps;
}
