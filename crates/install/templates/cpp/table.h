// The engine that stands in for yours: a std::map, and a file with all writes, its log. It throws, as engines do.
#pragma once

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

struct Table {
    std::map<std::string, std::string, std::less<>> records;
    std::shared_mutex lock;
    std::filesystem::path file;
    int log = -1;
    off_t log_size = 0;

    ~Table() {
        if (log >= 0)
            ::close(log);
    }
};

constexpr size_t DELETED = static_cast<size_t>(-1); // the size of the value in the log

[[noreturn]] inline void fail(const Table &table, int why) {
    throw std::system_error(why, std::generic_category(), table.file.string());
}

inline void sync(const Table &table) {
    if (::fsync(table.log))
        fail(table, errno);
}

inline void add(std::string &bytes, std::string_view key, const std::string_view *value) {
    const size_t sizes[2] = {key.size(), value ? value->size() : DELETED};
    bytes.append(reinterpret_cast<const char *>(sizes), sizeof sizes).append(key);
    if (value)
        bytes.append(*value);
}

/// Writes to the log, all of it or nothing.
inline void append(Table &table, std::string_view bytes) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t written = ::write(table.log, bytes.data() + done, bytes.size() - done);
        if (written <= 0) {
            int why = errno;
            if (::ftruncate(table.log, table.log_size)) // what was refused must not be found later
                why = errno;
            fail(table, why);
        }
        done += written;
    }
    table.log_size += bytes.size();
}

/// Writes a new log, and puts it in the old one's place only when it is whole and on the storage.
inline void save(Table &table) {
    auto fresh = table.file;
    fresh += ".new";
    table.log = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (table.log < 0)
        fail(table, errno);
    std::string bytes;
    for (const auto &[key, value] : table.records) {
        const std::string_view whole = value;
        add(bytes, key, &whole);
    }
    append(table, bytes);
    sync(table);
    std::filesystem::rename(fresh, table.file);
}

/// Reads the log up to the write that a death cut short, if one did, and saves what there is.
inline void load(Table &table) {
    std::ifstream file(table.file, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + table.file.string());
    for (size_t sizes[2]; file.read(reinterpret_cast<char *>(sizes), sizeof sizes);) {
        const bool is_deleted = sizes[1] == DELETED;
        std::string key(sizes[0], 0), value(is_deleted ? 0 : sizes[1], 0);
        if (!file.read(key.data(), key.size()) || !file.read(value.data(), value.size()))
            break;
        if (is_deleted)
            table.records.erase(key);
        else
            table.records[key] = value;
    }
    if (file.bad())
        throw std::runtime_error("cannot read " + table.file.string());
    save(table);
}
