// An adapter for kvdyno: the engine ABI of kvdyno.h, which says what each function owes, over a small engine.
//
// The engine is a std::map behind a lock, with a log of its writes (table.h). Where it stands, yours
// will: put your calls where it says ENGINE. Then declare what yours can do beyond this (scans, transactions, other
// durabilities): the list is at the end.
//
// No exception may cross the border: `guard` makes an error of it, and every function of the table is noexcept, so that
// one that was forgotten ends the process with its text.
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>

#include "kvdyno.h"
#include "table.h" // ENGINE: its header instead

struct kvdyno_database { // ENGINE: its handle
    Table table;
};

struct kvdyno_session { // what a thread needs to itself
    Table &table;
    std::string lent, error;
};

namespace {

void say(kvdyno_text *text, const char *words) { std::snprintf(text->data, text->capacity, "%s", words); }

std::string_view view(const void *data, size_t size) { return {static_cast<const char *>(data), size}; }

/// Runs `call`; an exception becomes an error, whose text `keep` takes.
template <typename Call, typename Keep> kvdyno_status guard(Call call, Keep keep) noexcept {
    try {
        return call();
    } catch (const std::system_error &error) { // ENGINE: its own exceptions, each as the status that it is
        keep(error.what());
        return error.code() == std::errc::no_space_on_device ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
    } catch (const std::exception &error) {
        keep(error.what());
    } catch (...) {
        keep("an exception that is no std::exception");
    }
    return KVDYNO_ERROR;
}

template <typename Call> kvdyno_status guarded(kvdyno_text *error, Call call) noexcept {
    return guard(call, [error](const char *words) { say(error, words); });
}

template <typename Call> kvdyno_status guarded(kvdyno_session *session, Call call) noexcept {
    return guard(call, [session](const char *words) { session->error = words; });
}

kvdyno_status probe(const char *library, kvdyno_text *version, kvdyno_text *error) noexcept {
    if (library) { // ENGINE: dlopen it here, or say that it is linked in
        say(error, "NAME is built in and loads no library");
        return KVDYNO_NO_LIBRARY;
    }
    say(version, "0.1"); // ENGINE: the version that it says
    return KVDYNO_OK;
}

const char *refusal(const kvdyno_config *config) {
    return config->library                                   ? "library: it is built in"
           : config->durability != KVDYNO_DURABILITY_PROCESS ? "durability: it offers process alone"
           : config->compression != KVDYNO_COMPRESSION_NONE  ? "compression: it has none" : nullptr;
}

// Every setting is put in the engine's words or refused. ENGINE: say what yours makes of them.
kvdyno_status settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error) noexcept {
    if (const char *refused = refusal(config)) {
        say(error, refused);
        return KVDYNO_UNSUPPORTED;
    }
    emit(context, "durability", "log", "each write goes to the OS at once, and is synced at close");
    emit(context, "cache", "map", "the setting bounds nothing: all records are in memory");
    emit(context, "write_buffer", "log", "the setting bounds nothing: no write waits");
    emit(context, "compression", "log", "none");
    emit(context, "files", "log", "NAME.data");
    return KVDYNO_OK;
}

kvdyno_status open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error) noexcept {
    return guarded(error, [&] {
        if (const char *refused = refusal(config)) {
            say(error, refused);
            return KVDYNO_UNSUPPORTED;
        }
        auto database = std::make_unique<kvdyno_database>();
        database->table.file = std::filesystem::path(config->path) / "NAME.data";
        config->create ? save(database->table) : load(database->table); // ENGINE: create or open
        *opened = database.release();
        return KVDYNO_OK;
    });
}

kvdyno_status close(kvdyno_database *given, kvdyno_text *error) noexcept {
    std::unique_ptr<kvdyno_database> database(given);
    return guarded(error, [&] {
        sync(database->table); // ENGINE: close
        return KVDYNO_OK;
    });
}

kvdyno_status session_open(kvdyno_database *database, const kvdyno_host *, kvdyno_session **opened,
                           kvdyno_text *error) noexcept {
    return guarded(error, [&] {
        *opened = new kvdyno_session{database->table, {}, {}};
        return KVDYNO_OK;
    });
}

void session_close(kvdyno_session *session) noexcept { delete session; }

void session_error(kvdyno_session *session, kvdyno_text *error) noexcept { say(error, session->error.c_str()); }

// The value stays readable until the session's next call, whatever others write. ENGINE: one that can lends its own.
kvdyno_status get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value) noexcept {
    return guarded(session, [&] {
        std::shared_lock reading(session->table.lock);
        auto record = session->table.records.find(view(key, key_size));
        if (record == session->table.records.end())
            return KVDYNO_MISS;
        session->lent = record->second;
        *value = {session->lent.data(), session->lent.size()};
        return KVDYNO_OK;
    });
}

// The entries in order. ENGINE: if it can do all or nothing, declare KVDYNO_CAN_BATCH.
kvdyno_status write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count) noexcept {
    return guarded(session, [&] {
        std::unique_lock writing(session->table.lock);
        std::string bytes;
        for (const auto *entry = entries; entry != entries + count; entry++) {
            const auto value = view(entry->value.data, entry->value.size);
            add(bytes, view(entry->key.data, entry->key.size), entry->kind == KVDYNO_PUT ? &value : nullptr);
        }
        append(session->table, bytes);
        for (const auto *entry = entries; entry != entries + count; entry++) {
            std::string key(view(entry->key.data, entry->key.size));
            if (entry->kind == KVDYNO_PUT)
                session->table.records.insert_or_assign(key, view(entry->value.data, entry->value.size));
            else
                session->table.records.erase(key);
        }
        return KVDYNO_OK;
    });
}

kvdyno_status put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                  size_t value_size) noexcept {
    kvdyno_batch_entry entry{KVDYNO_PUT, 0, {key, key_size}, {value, value_size}};
    return write(session, &entry, 1);
}

kvdyno_status remove(kvdyno_session *session, const void *key, size_t key_size) noexcept {
    kvdyno_batch_entry entry{KVDYNO_DELETE, 0, {key, key_size}, {}};
    return write(session, &entry, 1);
}

kvdyno_engine table() {
    kvdyno_engine engine{};
    engine.size = sizeof engine;
    engine.abi_version = KVDYNO_ABI_VERSION;
    engine.name = "NAME";
    engine.summary = "a std::map with a log"; // ENGINE
    engine.origin = "built in";
    engine.capabilities = KVDYNO_CAN_DELETE; // ENGINE: KVDYNO_CAN_SCAN and what else it can, with the functions for it
    engine.durabilities = 1u << KVDYNO_DURABILITY_PROCESS; // ENGINE: those that it offers
    engine.compressions = 1u << KVDYNO_COMPRESSION_NONE;
    engine.probe = probe;
    engine.settings = settings;
    engine.open = open;
    engine.close = close;
    engine.session_open = session_open;
    engine.session_close = session_close;
    engine.session_error = session_error;
    engine.get = get;
    engine.put = put;
    engine.remove = remove;
    engine.write = write;
    // ENGINE: what else it can, each with its capability: cursors, cursor_open_with, contains, insert_if_absent,
    // delete_range, counters; kvdyno.h has all of them.
    return engine;
}

} // namespace

const kvdyno_engine *kvdyno_engine_v2() {
    static const kvdyno_engine engine = table();
    return &engine;
}
