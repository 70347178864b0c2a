#include "core/shell_words.hpp"

#include <algorithm>
#include <utility>

namespace oyat::core {
namespace {

constexpr std::size_t kMaxScript = 64 * 1024, kMaxCommands = 1000;
constexpr std::string_view kBlank = " \t\r", kEndOfCommand = ";&|(){}\n";

class Lexer {
public:
    explicit Lexer(std::string_view script) : script_{script.substr(0, kMaxScript)} {}

    std::vector<std::vector<std::string>> run() {
        for (; at_ < script_.size() && commands_.size() < kMaxCommands; ++at_) take(script_[at_]);
        end_command();
        return std::move(commands_);
    }

private:
    [[nodiscard]] char next() const { return at_ + 1 < script_.size() ? script_[at_ + 1] : '\0'; }

    void take(char c) {
        if (single_) {
            if (c == '\'') return void(single_ = false);
            return add(c);
        }
        if (c == '\\') return escape();
        if (c == '"') return quote();
        // A command of its own in the middle of whatever stands around it, which goes on behind it.
        if (c == '`') {
            outer_.clear();
            double_ = false;
            return end_command();
        }
        if (c == '$' && next() == '(') return open();
        if (double_) return add(c);
        if (c == '\'') return begin_single();
        if (c == '#' && !in_word_) return skip_comment();
        if (c == '>' || c == '<') return redirect();
        if (kBlank.contains(c)) return end_word();
        if (!kEndOfCommand.contains(c)) return add(c);
        end_command();
        if (c == ')' && !outer_.empty()) close();
    }
    void add(char c) {
        word_ += c;
        in_word_ = true;
    }
    void begin_single() {
        single_ = true;
        in_word_ = true;
    }
    void quote() {
        double_ = !double_;
        in_word_ = true;
    }
    void escape() {
        if (const char c = next(); c != '\0' && c != '\n') add(c);
        ++at_;
    }
    void open() {
        ++at_;
        outer_.push_back(double_);
        double_ = false;
        end_command();
    }
    void close() {
        double_ = outer_.back();
        outer_.pop_back();
    }
    void skip_comment() {
        while (next() != '\n' && at_ + 1 < script_.size()) ++at_;
    }
    // Where output goes is no argument.
    void redirect() {
        if (std::ranges::all_of(word_, [](char c) { return c >= '0' && c <= '9'; })) word_.clear();
        in_word_ = in_word_ && !word_.empty();
        end_word();
        while (next() == '>' || next() == '<' || next() == '&') ++at_;
        skip_next_ = true;
    }
    void end_word() {
        if (!std::exchange(in_word_, false)) return;
        std::string word = std::exchange(word_, {});
        if (!std::exchange(skip_next_, false)) words_.push_back(std::move(word));
    }
    void end_command() {
        end_word();
        skip_next_ = false;
        if (!words_.empty()) commands_.push_back(std::exchange(words_, {}));
    }

    std::string_view script_;
    std::size_t at_ = 0;
    bool single_ = false, double_ = false, in_word_ = false, skip_next_ = false;
    std::vector<bool> outer_;  // whether each $( stands in double quotes
    std::string word_;
    std::vector<std::string> words_;
    std::vector<std::vector<std::string>> commands_;
};

}  // namespace

std::vector<std::vector<std::string>> simple_commands(std::string_view script) {
    return Lexer{script}.run();
}

}  // namespace oyat::core
