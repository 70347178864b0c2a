#include "agent/process_listing.hpp"

namespace oyat::agent {
namespace {

// With the one that makes it full an event is still within the window: see Process, which keeps short what is
// listed of each.
constexpr std::size_t kFull = 64 * 1024;

}  // namespace

void ProcessListing::writable() {
    while (true) {
        if (ready_.empty()) ready_ = next_event();
        if (ready_.empty()) return end({});  // an event is never empty
        if (window() < ready_.size()) return;
        send_event(ready_);
        ready_.clear();
    }
}

std::string ProcessListing::next_event() {
    wire::ProcessList list;
    std::size_t size = 0;
    for (const Process* process = processes_.after(listed_); process != nullptr && size < kFull;
         process = processes_.after(listed_)) {
        listed_ = process->pid();
        list.processes.push_back(process->info());
        size += wire::encode(list.processes.back()).size();
    }
    return list.processes.empty() ? std::string{} : wire::encode(list);
}

}  // namespace oyat::agent
