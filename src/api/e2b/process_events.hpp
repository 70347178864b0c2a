#pragma once

#include <cstdint>
#include <string>

#include "core/process.hpp"

// The JSON of a process and of what it does. Written by hand: output passes here byte by byte.
namespace oyat::e2b {

void append_start(std::string& json, std::uint32_t pid);
void append_output(std::string& json, const core::Output& output);
void append_end(std::string& json, const core::ProcessEnd& end);

// One process of a list.
void append_process(std::string& json, const core::Process& process);

// "exit status 3", "signal: killed": what a process is said to have ended with.
[[nodiscard]] std::string status_text(const core::ProcessEnd& end);

}  // namespace oyat::e2b
