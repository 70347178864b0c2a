#include "masking/stream_masker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "masking/encodings.hpp"

namespace oyat::masking {
namespace {

std::shared_ptr<const Patterns> patterns(std::vector<Value> values) {
    return Patterns::of(values);
}

const std::shared_ptr<const Patterns>& orders() {
    static const auto made = patterns({{"orders-api", "sk-0123456789abcdef"}, {"db", "correct horse"}});
    return made;
}

std::string whole(const std::shared_ptr<const Patterns>& patterns, std::string_view text) {
    Tally tally;
    return masked(patterns, text, tally);
}

// In chunks of the given sizes, the last one for what remains.
std::string in_chunks(const std::shared_ptr<const Patterns>& patterns, std::string_view text,
                      const std::vector<std::size_t>& sizes) {
    std::string out;
    StreamMasker masker{patterns};
    for (const std::size_t size : sizes) {
        masker.feed(text.substr(0, size), out);
        text.remove_prefix(std::min(size, text.size()));
    }
    masker.feed(text, out);
    masker.finish(out);
    return out;
}

TEST(StreamMasker, PutsTheNameInTheValuesPlace) {
    EXPECT_EQ(whole(orders(), "key=sk-0123456789abcdef\n"), "key=[masked:orders-api]\n");
    EXPECT_EQ(whole(orders(), "sk-0123456789abcde"), "[masked:?]");
    EXPECT_EQ(whole(orders(), "nothing here"), "nothing here");
    EXPECT_EQ(whole(orders(), ""), "");
}

TEST(StreamMasker, CountsWhatItTookOutByName) {
    Tally tally;
    (void)masked(orders(), "correct horse, correct horse, sk-0123456789abcdef; sk-01234567", tally);
    EXPECT_EQ(tally.count, 4u);
    EXPECT_EQ(tally.by_name, (std::map<std::string, std::uint64_t>{{"db", 2}, {"orders-api", 1}, {"?", 1}}));
    EXPECT_EQ(tally.partial, 1u);
}

TEST(StreamMasker, GivesTheSameForEveryPlaceOfACut) {
    const std::string text = "a sk-0123456789abcdef b correct horse c sk-01234 d correct hors";
    const std::string expected = "a [masked:orders-api] b [masked:db] c sk-01234 d [masked:?]";
    EXPECT_EQ(whole(orders(), text), expected);
    for (std::size_t first = 0; first <= text.size(); ++first) {
        for (std::size_t second = 0; first + second <= text.size(); ++second) {
            EXPECT_EQ(in_chunks(orders(), text, {first, second}), expected) << first << " " << second;
        }
    }
}

TEST(StreamMasker, HoldsBackOnlyWhatBeginsAValue) {
    StreamMasker masker{orders()};
    std::string out;
    masker.feed("ready> sk-012", out);
    EXPECT_EQ(out, "ready> ");
    EXPECT_TRUE(masker.holds_little());
    masker.feed("x", out);
    EXPECT_EQ(out, "ready> sk-012x");
    EXPECT_FALSE(masker.holds_little());
}

TEST(StreamMasker, KeepsALongBeginningUntilItIsDecided) {
    StreamMasker masker{orders()};
    std::string out;
    masker.feed("sk-01234567", out);
    EXPECT_FALSE(masker.holds_little());
    masker.release(out);
    EXPECT_EQ(out, "");
    masker.feed("!", out);
    EXPECT_EQ(out, "sk-01234567!");
}

TEST(StreamMasker, TakesOutTheRestOfAValueWhoseBeginningWasReleased) {
    StreamMasker masker{orders()};
    std::string out;
    masker.feed("sk-01", out);
    masker.release(out);
    EXPECT_EQ(out, "sk-01");
    masker.feed("23456789abcdef.", out);
    EXPECT_EQ(out, "sk-01[masked:orders-api].");
    EXPECT_EQ(masker.tally().partial, 1u);
}

TEST(StreamMasker, TakesOutEveryByteOfValuesThatOverlap) {
    const auto both = patterns({{"one", "abcdefgh"}, {"two", "efghijkl"}});
    EXPECT_EQ(whole(both, "<abcdefghijkl>"), "<[masked:one]>");
    EXPECT_EQ(whole(both, "<efghijklabcdefgh>"), "<[masked:two][masked:one]>");
    EXPECT_EQ(whole(patterns({{"in", "cdefghij"}, {"out", "abcdefghijkl"}}), "abcdefghijkl"), "[masked:out]");
}

TEST(StreamMasker, HoldsLittleOfAValueThatRepeatsItself) {
    const auto same = patterns({{"a", "aaaaaaaa"}});
    StreamMasker masker{same};
    std::string out;
    for (int i = 0; i < 1000; ++i) masker.feed(std::string(1000, 'a'), out);
    masker.finish(out);
    EXPECT_EQ(out, "[masked:a]");
}

TEST(StreamMasker, FindsAKeyOf64KibInOnePiece) {
    std::string key;
    std::mt19937 random{7};
    while (key.size() < 65'536) key += static_cast<char>('A' + random() % 26);
    const auto big = patterns({{"big", key}});
    EXPECT_EQ(whole(big, "<" + key + ">"), "<[masked:big]>");
    EXPECT_EQ(in_chunks(big, "<" + key + ">", {1, 5000, 40'000}), "<[masked:big]>");
}

TEST(StreamMasker, LeavesLittleOfAValueThatWasCut) {
    const std::string value = "first" + std::string(100, 'v') + "middle" + std::string(100, 'w');
    const std::string shown = whole(patterns({{"long", value}}), value.substr(0, 150) + "...");
    EXPECT_TRUE(shown.starts_with("[masked:long]")) << shown;
    EXPECT_LT(shown.size(), std::string_view{"[masked:long]..."}.size() + 64) << shown;
}

TEST(StreamMasker, JudgesWhatItHoldsAnewWhenValuesChange) {
    StreamMasker masker{orders()};
    std::string out;
    masker.feed("sk-012345", out);
    masker.use(patterns({{"orders-api", "sk-01234567-new"}}));
    masker.feed("67-new!", out);
    masker.finish(out);
    EXPECT_EQ(out, "[masked:orders-api]!");
}

TEST(Patterns, AreNoneWithoutValuesThatCouldBeFound) {
    EXPECT_EQ(patterns({}), nullptr);
    EXPECT_EQ(patterns({{"pin", "1234"}}), nullptr);
}

// --- the property, against the plainest way to say it
// --------------------------------------------------------

// Every byte of every occurrence goes; neighbours under one name are one mark; an end of the text that is a
// beginning of a word of eight bytes and more goes too.
std::string plainly(const std::vector<std::string>& words, std::string_view text) {
    std::vector<bool> hidden(text.size(), false);
    std::size_t begun = 0;
    for (const std::string& word : words) {
        for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
            std::fill_n(hidden.begin() + static_cast<std::ptrdiff_t>(at), word.size(), true);
        }
        for (std::size_t length = word.size(); length > begun; --length) {
            if (text.ends_with(std::string_view{word}.substr(0, length))) begun = length;
        }
    }
    const std::size_t tail = text.size() - begun;
    const bool unfinished = begun >= 8 && !std::all_of(hidden.begin() + static_cast<std::ptrdiff_t>(tail),
                                                       hidden.end(), [](bool each) { return each; });
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool gone = hidden[at] || (unfinished && at >= tail);
        const bool before = at > 0 && (hidden[at - 1] || (unfinished && at - 1 >= tail));
        if (!gone) {
            out += text[at];
        } else if (!before) {
            out += hidden[at] || at > tail ? "[masked:x]" : "[masked:?]";
        }
    }
    return out;
}

TEST(StreamMasker, AgreesWithThePlainestSearchForEverySplit) {
    std::mt19937 random{42};
    // Two letters make values that overlap with themselves and each other all the time.
    const auto word = [&](std::size_t length, unsigned letters) {
        std::string out;
        while (out.size() < length) out += static_cast<char>('a' + random() % letters);
        return out;
    };
    for (int round = 0; round < 3000; ++round) {
        std::vector<Value> values;
        std::vector<std::string> words;
        for (unsigned i = 0; i < 1 + random() % 3; ++i) {
            values.push_back({"x", word(8 + random() % 4, 2)});
            for (std::string& each : encodings_of(values.back().value)) words.push_back(std::move(each));
        }
        std::string text = word(random() % 12, 2);
        while (random() % 4 != 0) {
            text += random() % 2 == 0 ? values[random() % values.size()].value : word(random() % 20, 2);
            text += word(random() % 3, 3);
        }
        const auto built = Patterns::of(values);
        const std::string expected = plainly(words, text);
        ASSERT_EQ(whole(built, text), expected) << text;
        std::vector<std::size_t> sizes;
        for (std::size_t left = text.size(); left > 0;) {
            sizes.push_back(std::min<std::size_t>(random() % 5, left));
            left -= sizes.back();
        }
        ASSERT_EQ(in_chunks(built, text, sizes), expected) << text;
        for (const std::string& each : words) ASSERT_EQ(expected.find(each), std::string::npos) << each;
    }
}

}  // namespace
}  // namespace oyat::masking
