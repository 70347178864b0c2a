#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "secrets/binding.hpp"
#include "secrets/request.hpp"
#include "secrets/secret_value.hpp"
#include "secrets/spellings.hpp"

namespace oyat::secrets {

// Where a broker gets what it puts on the wire. Both refuse with a sentence for whoever wanted to use it.
class Values {
public:
    virtual ~Values() = default;
    [[nodiscard]] virtual Result<SecretValue> secret(const std::string& name) const = 0;
    [[nodiscard]] virtual Result<std::string> identity_token(const std::string& name) const = 0;
};

// One binding of one sandbox, in force.
struct Grant {
    std::string id;                          // of the binding, "b_<n>"
    std::shared_ptr<const Binding> binding;  // shared by the grants of all commands that it is for
    std::string placeholder;                 // "" for what is injected
    std::string command;                     // whose placeholder it is; "": the whole sandbox's
};

// Puts true values into the requests of one sandbox, where their bindings say so, and nowhere else; and keeps
// its placeholders from going anywhere else. No I/O: who intercepts requests asks it about each.
class Broker {
public:
    Broker(std::unique_ptr<const Values> values, const Clock& clock);

    void add(Grant grant);
    void remove_binding(const std::string& id);
    void remove_command(const std::string& command);
    [[nodiscard]] const std::vector<Grant>& grants() const { return grants_; }

    // How often a binding has been used, by its id.
    [[nodiscard]] std::uint64_t uses(const std::string& id) const;
    void set_uses(const std::string& id, std::uint64_t uses) { uses_[id] = uses; }

    // By the head alone; a request of `whole` is prepared with its body.
    [[nodiscard]] BodyNeed body_need(const RequestView& head) const;
    [[nodiscard]] Prepared prepare(const RequestView& request);

    // For bodies that pass as they come: finds placeholders in the first megabyte, also across chunks.
    class Scanner {
    public:
        // True: this chunk must not go out, it completes a placeholder.
        [[nodiscard]] bool feed(std::string_view chunk);

    private:
        friend class Broker;
        explicit Scanner(std::shared_ptr<const Spellings> spellings) : spellings_{std::move(spellings)} {}
        std::shared_ptr<const Spellings>
            spellings_;  // shared with the broker, whose grants may change meanwhile
        std::string tail_;
        std::size_t seen_ = 0;
    };
    [[nodiscard]] Scanner scanner() const { return Scanner{spellings_}; }

    // Whether text on another way out (a name to look up, bytes of plain HTTP) holds one of its placeholders
    // or something of their shape, in whatever case.
    [[nodiscard]] bool could_be_placeholder(std::string_view text) const;

    // While packages are being installed, only bindings made for that are in force.
    void set_installing(bool installing) { installing_ = installing; }

private:
    [[nodiscard]] std::string unusable(const Grant& grant) const;  // why, or ""
    void learn_spellings();

    std::unique_ptr<const Values> values_;
    const Clock& clock_;
    std::vector<Grant> grants_;
    std::map<std::string, std::uint64_t> uses_;
    std::shared_ptr<const Spellings> spellings_;
    bool installing_ = false;
};

}  // namespace oyat::secrets
