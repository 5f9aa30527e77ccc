// The events of an advice, in the form that the engine of `acre fit` reads.
#pragma once

#include <cstdint>
#include <optional>

#include "advice.hpp"
#include "fit/event_source.hpp"
#include "history.hpp"

namespace acre::tool {

/// Where each thread has a resource of its own, the one of whose objects most bytes live at a time; nothing where one
/// resource serves all.
std::optional<std::uint32_t> neediest_thread(const advice& of, const history& run);

/// All of them, or those of the objects that one thread allocated; each with a stack of its place. The run must live
/// longer.
event_source advised_source(const advice& of, const history& run, std::optional<std::uint32_t> thread = {});

}  // namespace acre::tool
