// The engine that stands in for yours: a std::map, in one file when it is closed. It throws, as engines do.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>

struct Table {
    std::map<std::string, std::string, std::less<>> records;
    std::shared_mutex lock;
    std::filesystem::path file;
};

/// Writes a new file, and puts it in the old one's place only when it is whole.
inline void save(const Table &table) {
    auto fresh = table.file;
    fresh += ".new";
    std::ofstream file(fresh, std::ios::binary);
    for (const auto &[key, value] : table.records) {
        const size_t sizes[2] = {key.size(), value.size()};
        file.write(reinterpret_cast<const char *>(sizes), sizeof sizes) << key << value;
    }
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + fresh.string());
    std::filesystem::rename(fresh, table.file);
}

inline void load(Table &table) {
    std::ifstream file(table.file, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + table.file.string());
    for (size_t sizes[2]; file.read(reinterpret_cast<char *>(sizes), sizeof sizes);) {
        std::string key(sizes[0], 0), value(sizes[1], 0);
        if (!file.read(key.data(), key.size()) || !file.read(value.data(), value.size()))
            throw std::runtime_error(table.file.string() + " is cut short");
        table.records[key] = value;
    }
}
