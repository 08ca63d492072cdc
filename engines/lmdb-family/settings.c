/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settings.c: what the lab's settings come to in both engines.
 */
#include "family.h"

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* The least that a record takes: a node in a leaf page, or pages of its own for a value of half a page and more. */
static uint64_t record_bytes(uint64_t key_size, uint64_t value_size, uint64_t page)
{
    const uint64_t node_head = 8 + 2;
    if (node_head + key_size + value_size <= (page - PAGE_HEAD) / 2)
        return node_head + key_size + value_size;
    return node_head + key_size + 8 + round_up(PAGE_HEAD + value_size, page);
}

/* Four times the data: pages are half empty after random puts, and copy-on-write needs space beside the old pages. */
uint64_t family_map_size(const kvdyno_config *config, const kvdyno_option *options, int option, uint64_t page)
{
    const uint64_t most = (uint64_t)options[option].maximum;
    uint64_t requested = (uint64_t)option_integer(config, option);
    if (requested)
        return round_up(requested, page);
    uint64_t each = 4 * record_bytes(config->key_size, config->value_size, page);
    if (config->records > most / each)
        return most;
    uint64_t needed = round_up(config->records * each, GIB);
    return needed > GIB ? needed : GIB;
}

unsigned family_max_readers(const kvdyno_config *config, unsigned default_readers)
{
    return default_readers + 4 * config->sessions * config_processes(config);
}

void family_say_stronger(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    if (config->durability == KVDYNO_DURABILITY_NONE)
        emit(context, "stronger", "process", "it has no weaker mode");
}

void family_say_periodic(const kvdyno_config *config, const char *call, kvdyno_emit emit, void *context)
{
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background", "%s every %" PRIu32 " ms%s", call, config->sync_period_ms,
              config_processes(config) > 1 ? ", by one of the processes" : "");
}

void family_say_memory(const char *write_buffer, kvdyno_emit emit, void *context)
{
    emit(context, "cache", "cache", "none of its own: the database is mapped, the OS caches it");
    emit(context, "write_buffer", "write_buffer", write_buffer);
    emit(context, "compression", "compression", "none");
    emit(context, "checksums", "checksums", "none: nothing checks the pages that are read");
    emit(context, "files", "log", "none");
}

void family_say_tree(const tree_stat *stat, kvdyno_emit emit, void *context)
{
    const figure figures[] = {
        {"entries", stat->ms_entries},       {"depth", stat->ms_depth},
        {"page_size", stat->ms_psize},       {"branch_pages", stat->ms_branch_pages},
        {"leaf_pages", stat->ms_leaf_pages}, {"overflow_pages", stat->ms_overflow_pages},
    };
    emit_figures("tree", figures, sizeof figures / sizeof *figures, emit, context);
}
