#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "masking/output_masker.hpp"
#include "masking/value.hpp"

namespace oyat::core {

// What the operator decides about what is hidden from whom.
struct MaskingConfig {
    std::shared_ptr<const masking::Expressions> forms;  // in the record, the log, errors and exports
    bool client_variables = false;  // secrets that a client passed in plainly are hidden from clients too
    bool client_forms = false;      // and what has one of the forms
};

// What must not be seen of each sandbox, in two planes: the record (with log, errors and exports), and the
// streams that clients get. Values of the vault are hidden in both; those that a client passed in plainly,
// and the sandbox's own token, in the record. Called on the loop, but for in_log().
class Masks {
public:
    explicit Masks(MaskingConfig config = {});
    Masks(const Masks&) = delete;
    Masks& operator=(const Masks&) = delete;

    // From now on the vault's values are hidden too; it must outlive every call but in_log().
    void consult(const masking::ValueSource& vault) { vault_ = &vault; }

    // Adds what came into a sandbox plainly, also nothing. The latest 256 values of a sandbox count.
    void learn(const std::string& sandbox, std::vector<masking::Value> values);
    // The sandbox has ended. What still comes of it, such as a call that was under way, is masked all the
    // same until a good many others have ended too.
    void forget(const std::string& sandbox);

    // Of "" or one that nothing was learnt of: what no sandbox may show.
    [[nodiscard]] const masking::Hidden& from_record(const std::string& sandbox);
    [[nodiscard]] const masking::Hidden& from_clients(const std::string& sandbox);
    // Rises when one of the two changed.
    [[nodiscard]] std::uint64_t version(const std::string& sandbox);

    // Hides what must not be seen from the event's fields. Output of commands is left: it was masked as a
    // stream. So is what oyat says itself, or a variable whose value is an address would blind the record.
    void hide(Event& event);
    [[nodiscard]] std::string hide(const std::string& sandbox, std::string_view text);
    [[nodiscard]] Error hide(const std::string& sandbox, const Error& error);
    // The same for lines of the log, from any thread, with the values that were known last.
    [[nodiscard]] std::string in_log(std::string_view sandbox, std::string_view text) const;

private:
    struct Entry {
        std::vector<masking::Value> plain;
        std::vector<masking::Value> brokered;  // as built
        std::uint64_t vault_generation = 0;    // as built
        bool changed = true;                   // plain is not as built
        std::uint64_t version = 0;
        masking::Hidden record;
        masking::Hidden clients;
    };
    Entry* built(const std::string& sandbox);
    void build(Entry& entry);

    const MaskingConfig config_;
    const masking::ValueSource* vault_ = nullptr;
    const masking::Hidden house_;  // for what belongs to no sandbox
    const masking::Hidden house_clients_;
    std::map<std::string, Entry, std::less<>> sandboxes_;
    std::deque<std::string> ended_;  // of them, oldest first
    mutable std::mutex changing_;    // of what in_log() reads
};

}  // namespace oyat::core
