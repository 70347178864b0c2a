// What it costs to look for values in a stream, by what the stream is made of: prose, base64 (in which every
// byte might belong to an encoded value), and text that begins like a value again and again. Prints one JSON
// line a figure.

#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "masking/stream_masker.hpp"

namespace {

using namespace oyat::masking;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kText = 64u << 20;
constexpr std::size_t kChunk = 64u << 10;  // as the agent's frames come

std::string of_letters(std::string_view letters, std::size_t size, std::mt19937& random) {
    std::string out(size, ' ');
    for (char& each : out) each = letters[random() % letters.size()];
    return out;
}

std::string repeated(std::string_view text) {
    std::string out;
    while (out.size() < kText) out += text;
    return out;
}

void measure(const std::string& name, const std::shared_ptr<const Patterns>& patterns,
             const std::string& text) {
    StreamMasker masker{patterns};
    std::string out;
    std::size_t shown = 0;
    const auto before = Clock::now();
    for (std::size_t at = 0; at < text.size(); at += kChunk) {
        out.clear();
        masker.feed(std::string_view{text}.substr(at, kChunk), out);
        shown += out.size();
    }
    masker.finish(out);
    const double nanos = std::chrono::duration<double, std::nano>(Clock::now() - before).count();
    std::printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"ns/byte\",\"shown\":%zu}\n", name.c_str(),
                nanos / static_cast<double>(text.size()), shown);
}

}  // namespace

int main() {
    std::mt19937 random{1};
    constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::string prose = repeated(
        "The quick brown fox jumps over the lazy dog; 1 warning generated (src/main.cpp:42:7) in 0.31 s.\n");
    const std::string base64 = of_letters(kBase64, kText, random);

    for (const std::size_t count : {1u, 20u}) {
        std::vector<Value> values;
        for (std::size_t i = 0; i < count; ++i) {
            values.push_back({"s" + std::to_string(i), "sk-" + of_letters(kBase64, 40, random)});
        }
        const auto patterns = Patterns::of(values);
        const std::string suffix = "_of_" + std::to_string(count);
        measure("mask_prose" + suffix, patterns, prose);
        measure("mask_base64" + suffix, patterns, base64);
        measure("mask_beginnings" + suffix, patterns, repeated(values.front().value.substr(0, 30) + "."));
    }
}
