// The events of an advice, in the form that the engine of `acre fit` reads.
#pragma once

#include <cstdint>
#include <optional>

#include "advice.hpp"
#include "fit/event_source.hpp"
#include "history.hpp"

namespace acre::tool {

/// All of them, or those of the objects that one thread allocated; each with a stack of its place. The run must live longer.
event_source advised_source(const advice& of, const history& run, std::optional<std::uint32_t> thread = {});

}  // namespace acre::tool
