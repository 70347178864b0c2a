#include "keeperlink/remote_files.hpp"

#include <utility>

namespace oyat::keeperlink {
namespace {

constexpr std::size_t kMaxListed = 1'000'000;  // threats D-26
constexpr std::size_t kMaxPerEvent = 256;      // entries, as the agent's messages say
// Credit goes back in pieces of this size, so that the agent never waits for it while we are reading.
constexpr std::size_t kCreditPiece = wire::kInitialWindow / 4;

class Source final : public core::FileSource {
public:
    Source(OpenStream stream, core::FileEntry entry) : stream_{std::move(stream)}, entry_{std::move(entry)} {}

    [[nodiscard]] const core::FileEntry& entry() const override { return entry_; }

    Task<std::string> next() override {
        if (owed_ >= kCreditPiece || !stream_.ready()) stream_.credit(std::exchange(owed_, 0));
        std::optional<Piece> piece = co_await stream_.next();
        if (!piece) co_return std::string{};
        owed_ += piece->bytes.size();
        co_return std::move(piece->bytes);
    }

private:
    OpenStream stream_;
    core::FileEntry entry_;
    std::size_t owed_ = 0;
};

class Sink final : public core::FileSink {
public:
    explicit Sink(OpenStream stream) : stream_{std::move(stream)} {}

    Task<> write(std::string_view bytes) override {
        if (stream_.ended()) co_await fail();
        co_await stream_.send(wire::ChannelId::file, std::string{bytes});
    }

    Task<core::FileEntry> finish() override {
        stream_.send_eof(wire::ChannelId::file);
        const std::optional<Piece> piece = co_await stream_.next();
        if (!piece)
            throw Error{Errc::internal, Fault::agent, "the agent says nothing of the file that it wrote"};
        core::FileEntry entry = single_entry(stream_, *piece);
        co_await stream_.next();  // the END, which may still be a refusal
        co_return entry;
    }

private:
    // The agent ended the stream while we were still sending: throws why.
    Task<> fail() {
        while (co_await stream_.next()) {
        }
        throw Error{Errc::internal, Fault::agent, "the agent ended the file before we did"};
    }

    OpenStream stream_;
};

class Listing final : public core::DirListing {
public:
    Listing(OpenStream stream, std::optional<Piece> first)
        : stream_{std::move(stream)}, first_{std::move(first)} {}

    Task<std::vector<core::FileEntry>> next() override {
        std::vector<core::FileEntry> entries;
        while (entries.empty() && listed_ < kMaxListed) {
            stream_.credit(std::exchange(owed_, 0));
            std::optional<Piece> piece =
                first_ ? std::exchange(first_, std::nullopt) : co_await stream_.next();
            if (!piece) break;
            owed_ = piece->bytes.size();
            auto message = stream_.read<wire::FileEntries>(*piece);
            if (message.entries.size() > kMaxPerEvent) {
                throw Error{Errc::internal, Fault::agent, "the agent listed too much at once"};
            }
            for (wire::FileEntry& each : message.entries) entries.push_back(to_core(std::move(each)));
        }
        listed_ += entries.size();
        co_return entries;
    }

private:
    OpenStream stream_;
    std::optional<Piece> first_;
    std::size_t owed_ = 0;
    std::size_t listed_ = 0;
};

class Watching final : public core::FileWatch {
public:
    explicit Watching(OpenStream stream) : stream_{std::move(stream)} {}

    Task<std::vector<core::FileChange>> next() override {
        std::vector<core::FileChange> changes;
        while (changes.empty()) {
            stream_.credit(std::exchange(owed_, 0));
            const std::optional<Piece> piece = co_await stream_.next();
            if (!piece) throw Error{Errc::unavailable, Fault::agent, "the agent ended the watch"};
            owed_ = piece->bytes.size();
            for (wire::WatchChange& each : stream_.read<wire::WatchEvents>(*piece).changes) {
                changes.push_back(to_core(std::move(each)));
            }
        }
        co_return changes;
    }

    void owe(std::size_t bytes) { owed_ += bytes; }

private:
    OpenStream stream_;
    std::size_t owed_ = 0;
};

}  // namespace

core::FileEntry single_entry(OpenStream& stream, const Piece& piece) {
    auto message = stream.read<wire::FileEntries>(piece);
    if (message.entries.size() != 1) {
        throw Error{Errc::internal, Fault::agent, "the agent answered with something else than one entry"};
    }
    return to_core(std::move(message.entries.front()));
}

Task<std::unique_ptr<core::FileSource>> open_source(std::shared_ptr<Link> link, wire::ReadFile request) {
    OpenStream stream{std::move(link), StreamKind::read_file, {.read_file = std::move(request)}};
    const std::optional<Piece> first = co_await stream.next();
    // The rules let no data and no good end through before the entry.
    core::FileEntry entry = single_entry(stream, *first);
    stream.credit(first->bytes.size());
    co_return std::make_unique<Source>(std::move(stream), std::move(entry));
}

Task<std::unique_ptr<core::FileSink>> open_sink(std::shared_ptr<Link> link, wire::WriteFile request) {
    OpenStream stream{std::move(link), StreamKind::write_file, {.write_file = std::move(request)}};
    co_return std::make_unique<Sink>(std::move(stream));
}

Task<std::unique_ptr<core::DirListing>> open_listing(std::shared_ptr<Link> link, wire::ListDir request) {
    OpenStream stream{std::move(link), StreamKind::listing, {.list_dir = std::move(request)}};
    std::optional<Piece> first = co_await stream.next();
    co_return std::make_unique<Listing>(std::move(stream), std::move(first));
}

Task<std::unique_ptr<core::FileWatch>> open_watch(std::shared_ptr<Link> link, wire::Watch request) {
    OpenStream stream{std::move(link), StreamKind::watch, {.watch = std::move(request)}};
    const std::optional<Piece> first = co_await stream.next();
    if (!first || !stream.read<wire::WatchEvents>(*first).ready) {
        throw Error{Errc::internal, Fault::agent, "the agent did not say that it watches"};
    }
    auto watching = std::make_unique<Watching>(std::move(stream));
    watching->owe(first->bytes.size());
    co_return watching;
}

}  // namespace oyat::keeperlink
