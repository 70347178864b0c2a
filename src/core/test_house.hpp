#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/fakes_for_tests.hpp"
#include "core/registry.hpp"
#include "io/loop.hpp"
#include "io/race.hpp"

namespace oyat::core {

// A server's worth of core around fakes, for tests.
struct House {
    explicit House(Executor on, SandboxesConfig settings = {})
        : executor{std::move(on)}, config{std::move(settings)} {
        config.sample_every = std::chrono::hours{1};  // tests take samples themselves
        open();
    }
    // A new oyatd over what the keeper, the store and the record hold.
    void open() {
        masks = std::make_unique<Masks>(masking);
        bus = std::make_unique<EventBus>(clock, log, masks.get());
        templates = std::make_unique<Templates>(keeper);
        egress.attached.clear();
        policies = std::make_unique<Policies>(store);
        sandboxes = std::make_unique<Registry>(SandboxesDeps{.executor = executor,
                                                             .clock = clock,
                                                             .keeper = keeper,
                                                             .connector = keeper,
                                                             .egress = egress,
                                                             .store = store,
                                                             .events = *bus,
                                                             .masks = *masks,
                                                             .templates = *templates,
                                                             .policies = *policies,
                                                             .config = config,
                                                             .secrets = secrets});
    }
    Task<> restart() {
        co_await sandboxes->close();
        sandboxes.reset();
        open();
        co_await policies->load();
        co_await sandboxes->recover();
    }
    // Time passes for the clock; what is due happens.
    Task<> pass(std::chrono::nanoseconds time) {
        clock.pass(time);
        sandboxes->expire_due();
        co_await turns();
    }
    static Task<> turns(int count = 50) {
        for (int i = 0; i < count; ++i) co_await yield_now();
    }

    [[nodiscard]] static Principal somebody(std::string tenant = "default") {
        return {.key_id = "key_1",
                .tenant = std::move(tenant),
                .scopes = 1,
                .client = "test/1",
                .protocol = "native"};
    }
    Task<std::shared_ptr<Sandbox>> create(CreateRequest request = {}) {
        return sandboxes->create(std::move(request), somebody());
    }
    Task<std::shared_ptr<Process>> start(Sandbox& sandbox, RunRequest request = plain()) {
        return sandbox.processes().start(std::move(request), somebody());
    }
    [[nodiscard]] static RunRequest plain() {
        RunRequest request;
        request.argv = {"prog", "arg"};
        return request;
    }

    Executor executor;
    SandboxesConfig config;
    FakeClock clock;
    FakeLog log;
    FakeStore store;
    FakeEgress egress;
    FakeKeeper keeper;
    MaskingConfig masking;
    std::unique_ptr<Masks> masks;
    SecretsControl* secrets = nullptr;  // in force with the next open()
    std::unique_ptr<EventBus> bus;
    std::unique_ptr<Templates> templates;
    std::unique_ptr<Policies> policies;
    std::unique_ptr<Registry> sandboxes;
};

// Tells one story in a house of its own.
inline void in_house(Task<> (*story)(House&), SandboxesConfig config = {}) {
    Loop loop;
    House house{loop.executor(), std::move(config)};
    const auto whole = [](House& where, Task<> (*tell)(House&)) -> Task<> {
        co_await where.sandboxes->recover();
        co_await with_timeout(std::chrono::seconds{10}, "the story", tell(where));
        co_await where.sandboxes->close();
    };
    loop.run(whole(house, story));
}

// The error that a task ends with; fails the test when it ends with none.
template <class T>
Task<Error> error_of(Task<T> task) {
    try {
        co_await std::move(task);
    } catch (const Error& e) {
        co_return e;
    }
    ADD_FAILURE() << "no error";
    co_return Error{Errc::internal, "no error"};
}

// All text until the end, and the end.
inline Task<ProcessEnd> read_all(Subscription& from, std::string& text) {
    while (auto event = co_await from.next()) {
        if (auto* end = std::get_if<ProcessEnd>(&*event)) co_return *end;
        text += std::get<Output>(*event).bytes;
    }
    co_return ProcessEnd{};
}

}  // namespace oyat::core
