#pragma once

#include <string_view>

#include "core/process.hpp"
#include "io/framed_stream.hpp"

namespace oyat::native {

// The protocol after the upgrade, in frames of io/framed_stream.hpp.
//   to oyatd:    'q' the command, as JSON, first of all (not when joining one)
//                'i' input        'c' input is closed    'r' {"cols":80,"rows":24}    'k' a signal's number
//   from oyatd:  's' {"pid":7}    'o' standard output    'e' standard error    'p' terminal output
//                'x' how it ended, as JSON               'f' the stream failed, as an error's JSON
inline constexpr std::string_view kCommandProtocol = "oyat-command";

// Carries one command's input and output until it has ended or the client has gone. A command outlives its
// client.
Task<> serve_command(FramedStream& frames, core::Process& process, core::Subscription& output);

// Awaits the task; an error of it becomes an 'f' frame, since the answer's status has been sent long ago.
Task<> tell_failures(FramedStream& frames, Task<> task);

}  // namespace oyat::native
