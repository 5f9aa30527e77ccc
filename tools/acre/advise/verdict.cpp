#include "verdict.hpp"

#include <algorithm>

namespace acre::tool {

namespace {

constexpr const char* any_order =
    "They are allocated and freed in any order: {churn} for each object live at the peak.";
constexpr const char* freed_by_others =
    "{freed_elsewhere} of them are freed by a thread other than the one that allocated them.";

constexpr const char* to_own_pool = "Every object must be freed to the pool that it came from, by the same thread.";
constexpr const char* to_shared_pool =
    "Every object must be freed to this pool, by any thread. What threads cost each other, in malloc and in the pool, "
    "is not in the figures.";
constexpr const char* share_an_arena =
    "{threads} threads allocate these: use a concurrent_arena, which they can share. Its cost with several threads is "
    "not in the figures.";

constexpr const char* grows_without_reset =
    "Without a reset it grows each time that the work is repeated, by {bytes} for the work of this run: a library, or "
    "a program that repeats its work, must reset it or not use it.";

constexpr const char* of_create =
    "{type}* {object} = {variable}.create<{type}>(arguments...);  // for new {type}(arguments...); no delete, no "
    "smart pointer\n";
constexpr const char* of_owned =
    "auto {object} = acre::make_unique<{type}>({variable}, arguments...);  // for new {type}(arguments...); no "
    "delete; held by acre::unique_ptr<{type} or its base, {resource}>\n";
constexpr const char* of_make_unique =
    "auto {object} = acre::make_unique<{type}>({variable}, arguments...);  // for std::make_unique<{type}>; held by "
    "acre::unique_ptr<{type} or its base, {resource}>; no delete after release()\n";
constexpr const char* of_create_for_unique =
    "{type}* {object} = {variable}.create<{type}>(arguments...);  // for std::make_unique<{type}>; a plain pointer in "
    "place of std::unique_ptr\n";
constexpr const char* of_make_shared =
    "auto {object} = acre::make_shared<{type}>({variable}, arguments...);  // for std::make_shared<{type}>\n";
constexpr const char* of_allocator = "{container} {object}{{{variable}}};  // for {type}\n";

constexpr code_lines arena_code{
    .begin = R"(using namespace acre::literals;
{storage}acre::arena {owner}_memory{{{{.first_block_bytes = {block}, .max_block_bytes = {max_block}}}}};
acre::scratch {owner}_scope{{{owner}_memory}};  // {scope_place} around these objects{lines}: reset at the end, however it is left
)",
    .plain = "void* p = {owner}_memory.allocate(bytes, alignment);  // for malloc; no free\n",
    .object = of_create,
    .array =
        "std::span<{type}> {object}_array = {owner}_memory.create_array<{type}>(n);  // for new {type}[n]; no delete\n",
    .unique = of_create_for_unique,
    .shared = of_make_shared,
    .container = of_allocator,
    .resource = "acre::arena",
    .variable = "{owner}_memory"};

// Objects may outlive the thread that made them, so a thread_local arena would be wrong.
constexpr code_lines unreset_arena_code{
    .begin = R"(using namespace acre::literals;
{static}acre::{arena_type} {owner}_memory{{{{.first_block_bytes = {block}, .max_block_bytes = {max_block}}}}};
)",
    .plain = "void* p = {owner}_memory.allocate(bytes, alignment);  // for malloc; no free\n",
    .object = R"({type}* {object} =
    new ({owner}_memory.allocate(sizeof({type}), alignof({type}))) {type}(arguments...);  // for new {type}(arguments...)
)",
    .unique = of_make_unique,
    .shared = of_make_shared,
    .container = of_allocator,
    .resource = "acre::{arena_type}",
    .variable = "{owner}_memory"};

constexpr code_lines scratch_code{
    .begin = R"(using namespace acre::literals;
{inline}thread_local acre::arena scratch_memory{{{{.first_block_bytes = {block}, .max_block_bytes = {max_block}}}}};
acre::scratch temp{{scratch_memory}};  // in {function}, before the first allocation{lines}; inside the loop, if any
)",
    .plain = "void* p = temp.allocate(bytes, alignment);  // for malloc; no free\n",
    .object = of_create,
    .array = "std::span<{type}> {object}_array = temp.create_array<{type}>(n);  // for new {type}[n]; no delete\n",
    .unique = of_create_for_unique,
    .shared = of_make_shared,
    .container = of_allocator,
    .resource = "acre::scratch",
    .variable = "temp"};

constexpr code_lines stack_buffer_code{
    .begin = "acre::inline_arena<{buffer}> buffer;  // in {function}{lines}, on the stack; inside the loop, if any\n",
    .plain = "void* p = buffer.allocate(bytes, alignment);  // for malloc; no free\n",
    .object = of_create,
    .array = "std::span<{type}> {object}_array = buffer.create_array<{type}>(n);  // for new {type}[n]; no delete\n",
    .unique = of_create_for_unique,
    .shared = of_make_shared,
    .container = of_allocator,
    .resource = "acre::inline_arena<{buffer}>",
    .variable = "buffer"};

constexpr const char* of_object_pool = R"({storage}acre::{pool_type}<{type}> {owner}_pool;{type_hint}
{type}* {object} = {owner}_pool.create(arguments...);  // for new {type}(arguments...)
{owner}_pool.destroy({object});  // for delete {object}
auto owned = acre::make_unique<{type}>({owner}_pool, arguments...);  // for std::make_unique<{type}>
)";
constexpr code_lines object_pool_code{.object = of_object_pool};

constexpr code_lines multi_pool_code{.begin = "{storage}acre::{pool_type} {owner}_pool;\n",
                                     .plain = R"(void* p = {owner}_pool.allocate(bytes, alignment);  // for malloc
{owner}_pool.deallocate(p, bytes, alignment);  // for free
)",
                                     .object = of_owned,
                                     .unique = of_make_unique,
                                     .shared = of_make_shared,
                                     .container = of_allocator,
                                     .resource = "acre::{pool_type}",
                                     .variable = "{owner}_pool"};

constexpr code_lines general_heap_code{
    .begin = "{static}acre::general_heap {owner}_memory;  // every object of it is the same heap\n",
    .plain = R"(void* p = {owner}_memory.allocate(bytes, alignment);  // for malloc
{owner}_memory.deallocate(p);  // for free
)",
    .object = of_owned,
    .unique = of_make_unique,
    .shared = of_make_shared,
    .container = "{container} {object};  // for {type}: no argument is needed\n",
    .resource = "acre::general_heap",
    .variable = "{owner}_memory"};

constexpr code_lines multi_arena_code{.begin = R"(using namespace acre::literals;
{storage}acre::multi_arena {owner}_arenas{{{{.arenas = {arenas}, .bytes = {arena_bytes}}}}};
{storage}acre::fallback {owner}_memory{{{owner}_arenas, acre::heap{{}}}};  // the heap serves what the arenas cannot
)",
                                      .plain = R"(void* p = {owner}_memory.allocate(bytes, alignment);  // for malloc
{owner}_memory.deallocate(p, bytes, alignment);  // for free
)",
                                      .object = of_owned,
                                      .unique = of_make_unique,
                                      .shared = of_make_shared,
                                      .container = of_allocator,
                                      .resource = "decltype({owner}_memory)",
                                      .variable = "{owner}_memory"};

// {api} stands before what the program calls: c_code_for makes it `static`, or a declaration.
// In C most functions have the shape of malloc's, since free does not get a size there. Nothing is freed one by one in
// an arena, so its blocks have no header: they would take more memory than malloc's with one.
constexpr const char* arena_c_code = R"(#include <acre.h>
static {thread_storage}acre_arena* {owner}_arena;
{end_of_thread}{api}void* {owner}_malloc(size_t bytes) {{  // no free
    if ({owner}_arena == NULL)
        {owner}_arena = {of_thread}acre_arena_create(
            &(acre_arena_options){{.first_block_bytes = {block_bytes}, .max_block_bytes = {max_block_bytes}}}){of_thread_end};
    return acre_arena_allocate({owner}_arena, bytes, {c_alignment});
}}
{realloc}{free}{api}void {owner}_reset(void) {{ acre_arena_reset({owner}_arena, ACRE_KEEP_ALL); }}  // {c_reset_place}
)";

// Objects may outlive their thread, so it cannot have an arena of its own.
constexpr const char* shared_arena_c_code = R"(#include <acre.h>
#include <threads.h>
static acre_concurrent_arena* {owner}_arena;
static once_flag {owner}_made = ONCE_FLAG_INIT;
static void {owner}_make(void) {{
    {owner}_arena = acre_concurrent_arena_create(
        &(acre_concurrent_arena_options){{.first_block_bytes = {block_bytes}, .max_block_bytes = {max_block_bytes}}});
}}
{api}void* {owner}_malloc(size_t bytes) {{  // no free
    call_once(&{owner}_made, {owner}_make);
    return acre_concurrent_arena_allocate({owner}_arena, bytes, {c_alignment});
}}
{realloc}{free}{api}void {owner}_reset(void) {{ acre_concurrent_arena_reset({owner}_arena, ACRE_KEEP_ALL); }}  // {c_reset_place}
)";

constexpr const char* arena_c_free =
    R"({api}void {owner}_free(void* p) {{  // in place of free at lines that free these and others
    if ({owner}_arena == NULL || !acre_resource_owns(acre_arena_resource({owner}_arena), p)) free(p);
}}
)";
constexpr const char* shared_arena_c_free =
    R"({api}void {owner}_free(void* p) {{  // in place of free at lines that free these and others
    call_once(&{owner}_made, {owner}_make);
    if (!acre_resource_owns(acre_concurrent_arena_resource({owner}_arena), p)) free(p);
}}
)";

constexpr const char* shared_arena_c_realloc =
    R"(// For realloc: old_bytes is the size that `old` was requested with, which the arena does not know.
{api}void* {owner}_realloc(void* old, size_t old_bytes, size_t bytes) {{
    void* p = {owner}_malloc(bytes);
    if (p != NULL && old != NULL) memcpy(p, old, old_bytes < bytes ? old_bytes : bytes);
    return p;
}}
)";

constexpr const char* scratch_c_code = R"(#include <acre.h>
static {thread_storage}acre_arena* {owner}_arena;
{end_of_thread}{api}acre_mark {owner}_begin(void) {{  // in {function}, before the first allocation{lines}; inside the loop, if any
    if ({owner}_arena == NULL)
        {owner}_arena = {of_thread}acre_arena_create(
            &(acre_arena_options){{.first_block_bytes = {block_bytes}, .max_block_bytes = {max_block_bytes}}}){of_thread_end};
    return acre_arena_mark({owner}_arena);
}}
{api}void* {owner}_malloc(size_t bytes) {{ return acre_arena_allocate({owner}_arena, bytes, {c_alignment}); }}  // no free
{realloc}{api}void {owner}_end(acre_mark begun) {{ acre_arena_rewind({owner}_arena, begun); }}  // where the loop or {function} ends
)";

// An arena that refuses to resize is asked for more than before, so the old bytes fit into the new ones.
constexpr const char* arena_c_realloc =
    R"(// For realloc: old_bytes is the size that `old` was requested with, which the arena does not know.
{api}void* {owner}_realloc(void* old, size_t old_bytes, size_t bytes) {{
    if (old != NULL && acre_arena_resize({owner}_arena, old, old_bytes, bytes)) return old;
    void* p = {owner}_malloc(bytes);
    if (p != NULL && old != NULL) memcpy(p, old, old_bytes);
    return p;
}}
)";

// What a resource allocates is not set to zero.
constexpr const char* any_c_calloc = R"({api}void* {owner}_calloc(size_t count, size_t size) {{
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    void* p = {owner}_malloc(count * size);
    if (p != NULL) memset(p, 0, count * size);
    return p;
}}
)";
constexpr const char* pool_c_calloc = R"({api}void* {owner}_allocate_zeroed(void) {{  // for calloc
    void* object = {owner}_allocate();
    if (object != NULL) memset(object, 0, {slot});
    return object;
}}
)";
constexpr const char* stack_buffer_c_calloc = "if (p != NULL) memset(p, 0, bytes);  // where calloc allocated it\n";

constexpr const char* stack_buffer_c_code = R"(#include <stdalign.h>
#include <stdlib.h>
alignas(16) char buffer[{buffer}];                            // in {function}{lines}, on the stack; inside the loop, if any
void* p = bytes <= sizeof buffer ? buffer : malloc(bytes);  // for malloc, of the only live object
if (p != (void*)buffer) free(p);                            // for free
)";

constexpr const char* object_pool_c_code = R"(#include <acre.h>
static {thread_storage}acre_pool* {owner}_pool;
{end_of_thread}{api}void* {owner}_allocate(void) {{  // for malloc of the struct of {slot} bytes
    if ({owner}_pool == NULL) {owner}_pool = {of_thread}acre_pool_create({slot}, NULL){of_thread_end};
    return acre_pool_allocate({owner}_pool);
}}
{api}void {owner}_free(void* object) {{ acre_pool_free({owner}_pool, object); }}
)";

// One line may free what others allocated as well: the heap owns what it allocated.
constexpr const char* general_heap_c_code = R"(#include <acre.h>
#include <stdlib.h>
{api}void* {owner}_malloc(size_t bytes) {{ return acre_general_heap_malloc(bytes); }}
{realloc}{api}void {owner}_free(void* p) {{  // also of what malloc allocated
    if (acre_general_heap_owns(p)) acre_general_heap_free(p);
    else free(p);
}}
)";

constexpr const char* general_heap_c_realloc =
    R"({api}void* {owner}_realloc(void* p, size_t bytes) {{  // also of what malloc allocated
    return p == NULL || acre_general_heap_owns(p) ? acre_general_heap_realloc(p, bytes) : realloc(p, bytes);
}}
)";

constexpr const char* general_heap_c_calloc =
    "{api}void* {owner}_calloc(size_t count, size_t size) {{ return acre_general_heap_calloc(count, size); }}\n";

constexpr const char* multi_arena_c_code = R"(#include <acre.h>
#include <stdlib.h>
static {thread_storage}acre_multi_arena* {owner}_arenas;
{end_of_thread}static acre_resource* {owner}_memory(void) {{
    if ({owner}_arenas == NULL)
        {owner}_arenas = {of_thread}acre_multi_arena_create(
            &(acre_multi_arena_options){{.arenas = {arenas}, .bytes = {arena_bytes_number}}}){of_thread_end};
    return acre_multi_arena_resource({owner}_arenas);
}}
{api}void* {owner}_malloc(size_t bytes) {{  // malloc serves what the arenas cannot
    void* p = acre_try_malloc({owner}_memory(), bytes);
    return p != NULL ? p : malloc(bytes);
}}
{realloc}{api}void {owner}_free(void* p) {{
    if (p == NULL || !acre_resource_owns({owner}_memory(), p)) free(p);
    else acre_free({owner}_memory(), p);
}}
)";

constexpr const char* multi_arena_c_realloc = R"({api}void* {owner}_realloc(void* p, size_t bytes) {{
    if (p == NULL) return {owner}_malloc(bytes);
    if (!acre_resource_owns({owner}_memory(), p)) return realloc(p, bytes);
    void* moved = acre_try_realloc({owner}_memory(), p, bytes);
    if (moved != NULL || bytes == 0) return moved;
    const size_t old_bytes = acre_usable_size({owner}_memory(), p);
    moved = malloc(bytes);
    if (moved == NULL) return NULL;
    memcpy(moved, p, old_bytes < bytes ? old_bytes : bytes);
    acre_free({owner}_memory(), p);
    return moved;
}}
)";

constexpr const char* concurrent_object_pool_c_code = R"(#include <acre.h>
#include <threads.h>
static acre_concurrent_pool* {owner}_pool;
static once_flag {owner}_made = ONCE_FLAG_INIT;
static void {owner}_make(void) {{ {owner}_pool = acre_concurrent_pool_create({slot}, NULL); }}
{api}void* {owner}_allocate(void) {{  // for malloc of the struct of {slot} bytes
    call_once(&{owner}_made, {owner}_make);
    return acre_concurrent_pool_allocate({owner}_pool);
}}
{api}void {owner}_free(void* object) {{ acre_concurrent_pool_free({owner}_pool, object); }}
)";

// What allocates less is code for one place, and needs nothing of acre.
constexpr const char* reserve_code = R"(// the {buffer_type} that grows at {buffer_line}, in {function}:
container.reserve({elements});  // before it is filled
)";
constexpr const char* keep_buffer_code = R"({view}// in place of the {buffer_type} at {buffer_line}, in {function}:
{kept_storage}{buffer_type} {owner}_kept;  // {kept_place}
{owner}_kept.clear();  // in each turn, before it is filled{refilled}
)";

constexpr const char* keep_member_code =
    R"(// the {buffer_type} of {buffer_line} is a member: keep the object that has it,
{kept_storage}...  // in {function}, {kept_place}
member.clear();  // in each turn, before it is filled{refilled}
)";

constexpr verdict_traits table[] = {
    {.which = verdict::reserve,
     .name = "reserve",
     .resource = "system",
     .allocates_less = true,
     .is_in_plan = false,
     .for_containers = verdict::reserve,
     .title = "reserve() for {subject}",
     .evidence = "{containers} grow there: {replaced} were replaced by larger ones, and {copied} copied. The last "
                 "buffer: {last_sizes}.",
     .cautions = {"The last buffer may be twice as large as needed: where the code knows the number of elements, "
                  "reserve that.",
                  "reserve() takes the whole buffer at once, for containers that stay smaller, too."},
     .code = {.begin = reserve_code}},
    {.which = verdict::keep_buffer,
     .name = "keep_buffer",
     .resource = "system",
     .allocates_less = true,
     .in_owner = true,
     .for_containers = verdict::keep_buffer,
     .title = "keep the buffer of {subject}",
     .evidence = "{containers} are made and freed in {function}, one after the other: never two at a time in a "
                 "thread. The last buffer: {last_sizes}.",
     .cautions = {"Nothing may use the elements of an earlier turn, or point into the buffer, after clear().",
                  "The container keeps its largest buffer, here {largest}, as long as it lives."},
     .caution_for_threads = "{threads} threads do this: each needs a container of its own.",
     .code = {.begin = keep_buffer_code, .object = keep_member_code}},
    {.which = verdict::arena,
     .name = "arena",
     .resource = "arena",
     .size = sized_by::first_block,
     .reset = reset_point::in_owner,
     .one_each_thread = true,
     .freed_as_whole = true,
     .for_containers = verdict::arena,
     .fits_arena = true,
     .title = "an arena, reset in {function}",
     .evidence =
         "They die in {function} or in what it calls: {generations}. On average {drag} of the bytes in the arena "
         "are dead.",
     .cautions = {"Nothing that outlives the reset may come from the arena; in this run nothing did."},
     .caution_in_cpp = "Containers in the arena must end before the reset: put them into a block of their own, and the "
                       "reset after it.",
     .caution_for_threads = "{threads} threads do this: each needs an arena of its own.",
     .code = arena_code,
     .c = {arena_c_code, arena_c_realloc, "acre_arena", arena_c_free},
     .c_calloc = any_c_calloc},
    {.which = verdict::scratch,
     .name = "scratch",
     .resource = "arena",
     .size = sized_by::first_block,
     .reset = reset_point::when_empty,
     .in_owner = true,
     .one_each_thread = true,
     .freed_as_whole = true,
     .for_containers = verdict::scratch,
     .fits_arena = true,
     .title = "a scratch in {function}",
     .evidence = "{lifo} of them are freed youngest first.",
     .cautions =
         {"Nothing that is returned or kept after the function may come from the scratch.",
          "The scratch frees everything at the end of its block: declared before a loop, it would hold what all "
          "iterations allocate."},
     .code = scratch_code,
     .c = {scratch_c_code, arena_c_realloc, "acre_arena"},
     .c_calloc = any_c_calloc},
    {.which = verdict::stack_buffer,
     .name = "stack_buffer",
     .resource = "stack_buffer",
     .size = sized_by::buffer,
     .in_owner = true,
     .for_containers = verdict::stack_buffer,
     .title = "a buffer on the stack of {function}",
     .evidence =
         "They die in the function that allocates them: {solo} as the only live one, 99 % before their thread has "
         "allocated {thread_life} more.",
     .cautions = {"Nothing that is returned or kept after the function may lie in the buffer; what does not fit comes "
                  "from malloc. The buffer frees everything at the end of its block: declared before a loop, it would "
                  "serve only the first iterations."},
     .code = stack_buffer_code,
     .c = {.code = stack_buffer_c_code},
     .c_calloc = stack_buffer_c_calloc},
    {.which = verdict::object_pool,
     .name = "object_pool",
     .resource = "pool",
     .size = sized_by::slot,
     .one_each_thread = true,
     .for_containers = verdict::multi_pool,
     .fits_pool = true,
     .title = "an object pool for {subject}",
     .evidence = any_order,
     .cautions = {to_own_pool},
     .caution_in_cpp = "create() without arguments is new T(), which sets plain data to zero; new T does not. Where a "
                       "container or std::make_shared allocates here, use an acre::multi_pool with acre::allocator "
                       "instead.",
     .code = object_pool_code,
     .c = {.code = object_pool_c_code, .of_thread = "acre_pool"},
     .c_calloc = pool_c_calloc},
    {.which = verdict::multi_pool,
     .name = "multi_pool",
     .resource = "multi_pool",
     .one_each_thread = true,
     .serves_any = true,
     .clearer_by_caller = true,
     .for_containers = verdict::multi_pool,
     .in_c = verdict::general_heap,
     .title = "a multi_pool for {subject}",
     .evidence = any_order,
     .cautions = {to_own_pool},
     .code = multi_pool_code},
    {.which = verdict::multi_arena,
     .name = "multi_arena",
     .resource = "fallback",  // as in the code
     .size = sized_by::arenas,
     .one_each_thread = true,
     .serves_any = true,
     .c_frees_any = true,
     .clearer_by_caller = true,
     .for_containers = verdict::multi_arena,
     .fits_multi_arena = true,
     .title = "a multi_arena for {subject}",
     .evidence =
         "They live about equally long: 99.5 % die before {group_life} more of them are allocated, {life_ratio} "
         "times the live bytes at the peak; {churn} for each object live at the peak.",
     .cautions = {"There are half as many arenas again as this run needed, and the heap serves what they cannot. One "
                  "object that lives on keeps its whole arena."},
     .code = multi_arena_code,
     .c = {multi_arena_c_code, multi_arena_c_realloc, "acre_multi_arena"},
     .c_calloc = any_c_calloc},
    {.which = verdict::monotonic_arena,
     .name = "monotonic_arena",
     .resource = "arena",
     .size = sized_by::first_block,
     .freed_as_whole = true,
     .for_containers = verdict::monotonic_arena,
     .fits_arena = true,
     .title = "an arena that is never reset for {subject}",
     .evidence = "{immortal} of them are never freed.",
     .cautions =
         {"If they should have been freed, this is a leak, and an arena would only hide it. A longer run that does "
          "free them would keep the memory.",
          grows_without_reset},
     .caution_for_threads = share_an_arena,
     .code = unreset_arena_code,
     .c = {arena_c_code, arena_c_realloc, "acre_arena"},
     .c_for_threads = {shared_arena_c_code, shared_arena_c_realloc},
     .c_calloc = any_c_calloc},
    {.which = verdict::phase_arena,
     .name = "phase_arena",
     .resource = "arena",
     .size = sized_by::first_block,
     .freed_as_whole = true,
     .for_containers = verdict::phase_arena,
     .fits_arena = true,
     .title = "an arena for {subject}, freed as a whole",
     .evidence =
         "Freeing them one by one makes hardly any memory reusable: an arena with all of them takes {growth} times the "
         "memory that malloc takes at their peak.",
     .cautions = {"The memory is freed only when the arena is reset or destroyed, at the end of the phase.",
                  grows_without_reset},
     .caution_for_threads = share_an_arena,
     .code = unreset_arena_code,
     .c = {arena_c_code, arena_c_realloc, "acre_arena", arena_c_free},
     .c_for_threads = {shared_arena_c_code, shared_arena_c_realloc, "", shared_arena_c_free},
     .c_calloc = any_c_calloc},
    {.which = verdict::concurrent_object_pool,
     .name = "concurrent_object_pool",
     .resource = "concurrent_multi_pool",
     .size = sized_by::slot,
     .shared_by_threads = true,
     .for_containers = verdict::concurrent_multi_pool,
     .fits_pool = true,
     .title = "a concurrent_object_pool for {subject}",
     .evidence = freed_by_others,
     .cautions = {to_shared_pool},
     .code = object_pool_code,
     .c = {.code = concurrent_object_pool_c_code},
     .c_calloc = pool_c_calloc},
    {.which = verdict::concurrent_multi_pool,
     .name = "concurrent_multi_pool",
     .resource = "concurrent_multi_pool",
     .shared_by_threads = true,
     .serves_any = true,
     .clearer_by_caller = true,
     .for_containers = verdict::concurrent_multi_pool,
     .in_c = verdict::general_heap,
     .title = "a concurrent_multi_pool for {subject}",
     .evidence = freed_by_others,
     .cautions = {to_shared_pool},
     .code = multi_pool_code},
    {.which = verdict::general_heap,
     .name = "general_heap",
     .resource = "general_heap",
     .shared_by_threads = true,
     .serves_any = true,
     .c_frees_any = true,
     .clearer_by_caller = true,
     .for_containers = verdict::general_heap,
     .title = "acre's general heap for {subject}",
     .evidence = any_order,
     .cautions = {"Every object must be freed to this heap, by any thread: free() would end the program."},
     .caution_for_threads = "What threads cost each other, in malloc and in this heap, is not in the figures of a "
                            "replay.",
     .code = general_heap_code,
     .c = {general_heap_c_code, general_heap_c_realloc},
     .c_calloc = general_heap_c_calloc},
    {.which = verdict::leave,
     .name = "leave",
     .resource = "system",
     .serves_any = true,
     .clearer_by_caller = true,
     .for_containers = verdict::leave,
     .fits_multi_arena = true,
     .fits_arena = true,
     .fits_pool = true,
     .title = "leave {subject} as it is",
     .evidence = "{lifo} of them are freed youngest first; {churn} for each object live at the peak."},
};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < std::size(table); ++i) {
        if (table[i].which != static_cast<verdict>(i)) return false;
    }
    return std::size(table) == all_verdicts.size();
}
static_assert(is_in_order(), "the table is indexed by the verdict");

}  // namespace

const verdict_traits& traits_of(verdict which) {
    return table[static_cast<std::size_t>(which)];
}

}  // namespace acre::tool
