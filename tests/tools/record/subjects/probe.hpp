// Takes note of the stack and allocates.
#pragma once

void probe();
