#pragma once

#include <string>
#include <vector>

#include "core/sandbox_record.hpp"

namespace oyat::core {

struct KeyRecord {
    std::string id;    // "key_<8 hex>"
    std::string hash;  // SHA-256 of the key, hex
    std::string name;
    std::string tenant;
    std::uint8_t scopes = 0;
    WallTime created{};
    bool revoked = false;
};

// A thing of another room that must survive: a policy, a sealed secret, a switch. Its kind says whose, its
// key is unique within the kind, its body is that room's JSON.
struct StoredItem {
    std::string key;
    std::string body;
};

// What must survive. save() returns when the record is committed (it survives kill -9 of any process). One
// writer thread with group commit; never on the exec path.
class Store {
public:
    virtual ~Store() = default;
    virtual Task<> save(SandboxRecord record) = 0;
    virtual Task<std::vector<SandboxRecord>> load() = 0;  // all, ended ones too
    virtual Task<> forget(std::string id) = 0;
    virtual Task<> save_key(KeyRecord key) = 0;
    virtual Task<std::vector<KeyRecord>> load_keys() = 0;
    virtual Task<> save_item(std::string kind, std::string key, std::string body) = 0;
    virtual Task<> forget_item(std::string kind, std::string key) = 0;
    virtual Task<std::vector<StoredItem>> load_items(std::string kind) = 0;  // in the order of their keys
};

}  // namespace oyat::core
