# The table of hostile environments: one call a case, read by scripts/hostile-tests. README.md describes the fields.

# What has to be compiled, besides each source by its own name: name, source, flags; `needs` names what may be missing.
program("plugin", "plugin.c", "-shared -fPIC")
program("loads", "loads.c", "-ldl")
program("churn-static", "churn.c", "-static")
program("churn-musl", "churn.c", compiler="musl-gcc", needs="there is no musl-gcc")
program("churn-32", "churn.c", "-m32", needs="there are no 32-bit libraries to build with")
program("exits_32", "exits_32.c", "-m32 -nostdlib -static -fno-pie -no-pie -fno-stack-protector",
        needs="there is no 32-bit target")
program("churn-asan", "churn.c", "-fsanitize=address", needs="there is no AddressSanitizer")
program("churn-tsan", "churn.c", "-fsanitize=thread", needs="there is no ThreadSanitizer")
program("churn-ubsan", "churn.c", "-fsanitize=undefined", needs="there is no UndefinedBehaviorSanitizer")
program("churn-lsan", "churn.c", "-fsanitize=leak", needs="there is no LeakSanitizer")
program("churn-msan", "churn.c", "-fsanitize=memory", compiler="clang-19",
        needs="there is no clang with MemorySanitizer")
program("churn-asan-clang", "churn.c", "-fsanitize=address", compiler="clang-19",
        needs="there is no clang with AddressSanitizer")
program("churn-setuid", "churn.c", then="chmod u+s churn-setuid")
program("churn-stripped", "churn.c", "-s")
program("churn-no-pie", "churn.c", "-no-pie")
program("churn-damaged", "churn.c",
        then="head -c 64 /dev/urandom >noise; objcopy --update-section .eh_frame_hdr=noise churn-damaged")
program("churn-no-tables", "churn.c", "-fno-asynchronous-unwind-tables",
        then="objcopy -R .eh_frame -R .eh_frame_hdr churn-no-tables")
program("stacks-damaged", "stacks.c",
        then="yes x | head -c 400 >noise2; objcopy --update-section .eh_frame_hdr=noise2 stacks-damaged")
program("sizes-jemalloc", "sizes.c", "-Wl,--no-as-needed -l:libjemalloc.so.2", needs="there is no libjemalloc.so.2")
program("sizes-jemalloc-static", "sizes.c", "-l:libjemalloc.a -lm -lstdc++", needs="there is no libjemalloc.a")
program("sizes-tcmalloc", "sizes.c", "-Wl,--no-as-needed -l:libtcmalloc.so.4", needs="there is no libtcmalloc.so.4")
program("sizes-mimalloc", "sizes.c", "-Wl,--no-as-needed -l:libmimalloc.so.2", needs="there is no libmimalloc.so.2")
program("churn-jemalloc", "churn.c", "-Wl,--no-as-needed -l:libjemalloc.so.2", needs="there is no libjemalloc.so.2")
program("starts-jemalloc", "starts.c", "-Wl,--no-as-needed -l:libjemalloc.so.2", needs="there is no libjemalloc.so.2")
program("threads-jemalloc", "threads.c", "-Wl,--no-as-needed -l:libjemalloc.so.2", needs="there is no libjemalloc.so.2")
program("jemalloc_only", "jemalloc_only.c", "-l:libjemalloc.so.2", needs="there is no libjemalloc.so.2")
program("tcmalloc_only", "tcmalloc_only.c", "-l:libtcmalloc.so.4", needs="there is no libtcmalloc.so.4")
program("mimalloc_only", "mimalloc_only.c", "-l:libmimalloc.so.2", needs="there is no libmimalloc.so.2")

# Processes, with and without --children.
started = "started [0-9]+ process"
case("fork", "@ starts fork", says=started, events=200)
case("fork-children", "@ starts fork", "--children", events=400, traces=2)
case("forks", "@ starts forks", says="started 20 processes", events=200)
case("forks-children", "@ starts forks", "--children", events=600, traces=21)
case("nested-forks", "@ starts nested", says=started, events=200)
case("nested-forks-children", "@ starts nested", "--children", events=1200, traces=6)
case("vfork", "@ starts vfork", says=started, events=200)
case("vfork-children", "@ starts vfork", "--children", events=400, traces=2)
case("vfork-and-exit", "@ starts vfork-exit", events=200)
case("fork-exec", "@ starts fork-exec", says=started, events=200)
case("fork-exec-children", "@ starts fork-exec", "--children", events=400, traces=2)
case("spawn", "@ starts spawn", says=started, events=200)
case("spawn-children", "@ starts spawn", "--children", events=400, traces=2)
case("spawn-empty-environment", "@ starts spawn-empty", says=started, events=200)
case("spawn-empty-environment-children", "@ starts spawn-empty", "--children", events=400, traces=2)
case("spawn-closed-descriptors", "@ starts spawn-closed", "--children", events=400, traces=2)
case("allocates-around-fork", "@ starts allocates-around-fork", "--children", events=2800, traces=11)
case("spawn-missing", "@ starts spawn-missing", "--children", events=200)
case("system", "@ starts system churn", says=started, events=200)
case("system-children", "@ starts system 'churn 100 5'", "--children", events=400, traces=range(2, 4))
case("popen", "@ starts popen 'churn 100 5'", says=started, events=200)
case("popen-children", "@ starts popen 'churn 100 5'", "--children", events=400, traces=range(2, 4))
case("double-fork", "@ starts double-fork", says=started, events=200)
case("double-fork-children", "@ starts double-fork", "--children", events=400, traces=range(2, 4))
case("setsid", "@ starts setsid", "--children", events=400, traces=range(2, 4))
case("daemon", "@ starts daemon >out; sleep 1; cat out", says="left .* running|started", events=200)
case("fork-and-leave", "@ starts fork-and-leave; sleep 1", "--children", says="left 1 process running: [0-9]+ .starts",
     events=200, traces=range(1, 3))
case("raw-clone", "@ starts raw-clone", events=200)
case("raw-clone-children", "@ starts raw-clone", "--children", events=200, traces=range(1, 3))
case("raw-vfork", "@ starts raw-vfork", events=200)
case("fork-in-thread", "@ starts fork-in-thread", "--children", events=400, traces=2)
case("fork-beside-threads", "@ starts fork-beside-threads", "--children", events=200, traces=21)
case("sigchld-ignored", "@ starts sigchld-ignored", says=started, events=200)
case("double-forks-under-limit", "setpriv --reuid 54321 --clear-groups prlimit --nproc=60 @ starts many-orphans 400",
     events=200, needs="root setpriv prlimit")

# One program after the other in one process.
for how in ("execl", "execlp", "execle", "execv", "execvp", "execve", "execvpe", "fexecve"):
    case(f"exec-{how}", f"@ becomes {how} churn 100", says="executed 2 programs", events=200)
for how in ("execveat", "raw"):
    case(f"exec-{how}", f"@ becomes {how} churn 100", says="executed 2 programs", events=200)
case("exec-empty-environment", "@ becomes execve-empty churn 100", says="executed 2 programs", events=200)
case("exec-null-environment", "@ becomes execve-null churn 100", says="executed 2 programs", events=200)
case("exec-empty-environment-children", "@ becomes execve-empty starts fork", "--children", events=400, traces=2,
     says="executed 2 programs")
case("exec-raw-empty", "@ becomes raw-empty churn 100", events=200)
case("exec-without-arguments", "@ becomes no-arguments churn", events=200, says="executed 2 programs")
case("exec-in-thread", "@ becomes thread churn 100", events=200, says="executed 2 programs")
case("exec-beside-threads", "@ becomes beside-threads churn 100", events=200, says="executed 2 programs")
case("exec-children", "@ becomes execv starts fork", "--children", events=400, traces=2, says="executed 2 programs")
case("exec-missing", "@ becomes execv there-is-none", events=400)
case("exec-chain", "@ becomes execv $BIN/becomes execve $BIN/becomes execvp churn 100 3", events=200,
     says="executed 4 programs")
case("exec-static", "@ becomes execv churn-static 100", events=200, says="static|could not be recorded")
case("exec-setuid", "setpriv --reuid 54321 --clear-groups @ becomes execv churn-setuid 100", events=200,
     says="setuid|could not be recorded", needs="root setpriv")
case("exec-32-bit", "@ becomes execv exits_32", events=200, says="32-bit|could not be recorded")
case("exec-musl", "@ becomes execv churn-musl 100", events=200, says="could not be recorded|musl|loader")
case("exec-asan", "@ becomes execv churn-asan 100", events=200, says="AddressSanitizer|could not be recorded")
case("exec-tsan", "@ becomes execv churn-tsan 100", events=200, says="ThreadSanitizer|could not be recorded")
case("exec-ubsan", "@ becomes execv churn-ubsan 100", events=200, says="executed 2 programs")
for kind in ("static", "musl", "asan"):
    case(f"exec-{kind}-children", f"@ becomes execv churn-{kind} 100", "--children", events=200,
         says="static|could not be recorded")
case("exec-script", "printf '#!/bin/sh\\necho script $1\\n' >s; chmod +x s; @ becomes execv ./s 100", events=2,
     says="executed [0-9]+ programs")

# What children see. Without --children, nothing of acre.
case("child-environment", "@ starts spawn shows environment", says=started, events=200)
case("child-environment-fork-exec", "@ starts fork-exec shows environment process signals limits", says=started,
     events=200)
case("child-environment-vfork", "@ starts vfork shows environment", says=started, events=200)
case("child-environment-system", "@ starts system 'shows environment'", says=started, events=200)
case("child-environment-popen", "@ starts popen 'shows environment'", says=started, events=200)
case("child-environment-shell", "@ bash -c 'shows environment; :'", says=started)
case("child-environment-python",
     "@ python3 -c 'import subprocess; print(subprocess.run([\"shows\", \"environment\"], capture_output=True, "
     "text=True).stdout)'",
     says=started, needs="python3")
case("child-environment-own-preload", "LD_PRELOAD=$BIN/plugin @ starts spawn shows environment", says=started,
     events=200)
case("child-descriptors", "@ starts spawn shows descriptors", says=started, events=200)
case("child-descriptors-children", "@ starts spawn shows descriptors", "--children", events=400, traces=2)
case("child-signals-children", "@ starts spawn shows signals limits process", "--children", events=400, traces=2)
for kind in ("static", "musl", "asan", "tsan", "ubsan", "lsan", "jemalloc", "asan-clang", "msan"):
    case(f"child-{kind}", f"@ starts spawn churn-{kind} 100 4", says=started, events=200)
for kind in ("tsan", "lsan"):
    case(f"child-{kind}-children", f"@ starts spawn churn-{kind} 100 4", "--children", may_say="could not be recorded",
         events=200, traces=range(1, 3))
for kind in ("static", "musl", "asan", "msan"):
    case(f"child-{kind}-children", f"@ starts spawn churn-{kind} 100 4", "--children",
         says="could not be recorded|static|sanitizer", events=200)
case("child-32-bit", "@ starts spawn exits_32", says=started, events=200)
case("child-32-bit-children", "@ starts spawn exits_32", "--children", says="could not be recorded|32-bit", events=200)
case("child-jemalloc-children", "@ starts spawn churn-jemalloc 100 4", "--children", events=400, traces=2,
     allocator="jemalloc")
case("child-setuid-children", "setpriv --reuid 54321 --clear-groups @ starts spawn churn-setuid", "--children",
     says="could not be recorded|setuid", events=200, needs="root setpriv")

# What the program itself sees.
case("own-signals-limits", "@ shows signals limits", events=200)
case("own-process", "@ shows process", events=200)
case("own-descriptors", "@ shows descriptors", events=200)
case("own-descriptors-counted", "@ shows all-descriptors", events=200)

# Rights and namespaces.
case("setuid-first", "@ privileges setuid-first", says=started, events=2000, needs="root")
case("setuid-forks", "@ privileges setuid-forks", says=started, events=2200, needs="root")
unreached = "could not be recorded|could not write"
case("setuid-first-children", "@ privileges setuid-first", "--children", events=2000, traces=range(1, 5),
     says=unreached, needs="root")
case("setuid-forks-children", "@ privileges setuid-forks", "--children", events=2200, traces=range(1, 5),
     says=unreached, needs="root")
case("setuid-exec-children", "@ privileges setuid-exec", "--children", events=200,
     says="executed 2 programs|could not be recorded", needs="root")
case("chroot-forks", "@ privileges chroot-forks", says=started, events=2200, needs="root")
case("chroot-forks-children", "@ privileges chroot-forks", "--children", events=2200, traces=range(1, 5),
     says=unreached, needs="root")
case("chroot-and-setuid-children", "@ privileges chroot-and-setuid", "--children", events=2200, traces=range(1, 5),
     says=unreached, needs="root")
case("user-namespace", "@ privileges user-namespace", "--children", events=8200, traces=4, needs="user-namespaces")
case("net-namespace", "@ privileges net-namespace", "--children", events=8200, traces=4, needs="root")
case("hidden-folder", "@ privileges hidden-folder", says=started, events=2200, needs="mounts")
case("hidden-folder-children", "@ privileges hidden-folder", "--children", events=2200, traces=range(1, 5),
     says=unreached, needs="mounts")
case("equal-pids", "@ privileges equal-pids", "--children", events=3200, traces=range(4, 8), needs="root")
case("without-proc", "@ privileges without-proc", "--children", events=8200, traces=4, needs="mounts")
case("without-proc-at-start", "mount -t tmpfs none /proc; @ churn", events=200, needs="mounts")
case("not-dumpable", "@ privileges not-dumpable", "--children", events=8200, traces=4)
case("no-new-privileges", "@ privileges no-new-privileges", "--children", events=8200, traces=4)
case("unshare-user", "unshare -r @ starts fork", "--children", events=400, traces=2, needs="user-namespaces")
case("unshare-pids", "unshare -pf @ starts fork", "--children", events=400, traces=2, needs="root")
case("unshare-pids-below", "@ unshare -pf starts fork", "--children", events=400, traces=range(2, 4), needs="root")
case("unshare-pids-proc", "unshare -pf --mount-proc @ starts double-fork", "--children", events=400, traces=range(2, 4),
     needs="mounts")
case("unshare-all", "unshare -r -m -p -n -i -u -f @ starts fork", "--children", events=400, traces=2,
     needs="user-namespaces")
case("as-nobody", "setpriv --reuid 65534 --regid 65534 --clear-groups @ starts fork", "--children", events=400,
     traces=2, needs="root setpriv")
case("without-capabilities", "setpriv --inh-caps=-all --bounding-set=-all @ starts fork", "--children", events=400,
     traces=2, needs="root setpriv")

# Sandboxes. The recorder's own system calls must not be what ends the program.
sandboxed = "restricted its system calls|system calls"
case("sandbox-open", "@ sandbox errno 300000 open", "--children", events=200, traces=range(1, 3), says=sandboxed)
case("sandbox-files", "@ sandbox errno 300000 files", events=200, says=sandboxed)
case("sandbox-sockets", "@ sandbox errno 300000 sockets", events=200, says=sandboxed)
case("sandbox-processes", "@ sandbox errno 300000 processes", events=200, says=sandboxed)
case("sandbox-memory", "@ sandbox errno 300000 memory", events=200, says=sandboxed)
case("sandbox-kills-open", "@ sandbox kill 300000 open sockets", events=200, says=sandboxed)
case("sandbox-kills-files", "@ sandbox kill 300000 files", events=200, says=sandboxed)
case("sandbox-kills-processes", "@ sandbox kill 300000 processes", events=200, says=sandboxed)
case("sandbox-traps-files", "@ sandbox trap 300000 files", events=200, says=sandboxed)
case("sandbox-kills-memory", "@ sandbox kill 300000 memory", events=200, says=sandboxed)
case("sandbox-strict", "@ sandbox strict 100", events=200, says=sandboxed)

# Limits.
case("limit-stack", "ulimit -s 128; @ churn 100000", events=200000)
case("limit-stack-of-program", "@ bash -c 'ulimit -s 128; exec churn 100000'", events=200000,
     says="executed 2 programs")
case("limit-stack-unlimited", "ulimit -s unlimited; @ churn 100000", events=200000)
case("limit-files-6", "ulimit -n 6; @ churn", traces=range(0, 2), same="",
     says="descriptors|open files|ulimit -n|wrote", silent="saw no allocation")
case("limit-files-14", "ulimit -n 14; @ starts fork", "--children", events=400, traces=2)
case("limit-memory", "@ bash -c 'ulimit -v 200000; exec churn 300000'", events=600000, says="executed 2 programs")
case("limit-memory-small", "@ bash -c 'ulimit -v 20000; exec churn 300000'", traces=range(0, 2), same="status stdout",
     says="executed 2|memory")
case("limit-memory-of-acre", "ulimit -v 1000000; @ churn 1000", traces=range(0, 2), same="stdout",
     says="wrote|memory|acre finish", leaves="raw")
case("limit-file-size-0", "ulimit -f 0; @ churn", traces=range(0, 2), same="stdout", says="file size limit|ulimit -f",
     leaves="raw")
case("limit-file-size-64K", "ulimit -f 64; @ churn 1000000", traces=range(0, 2), same="stdout",
     says="file size limit|ulimit -f|wrote", leaves="raw")
case("limit-processes", "setpriv --reuid 54322 --clear-groups prlimit --nproc=3 @ churn", traces=range(0, 2),
     same="stdout", says="wrote|process", needs="root setpriv prlimit", leaves="raw")
case("limit-core", "ulimit -c unlimited; cd /; @ churn", events=200)
case("limit-cpu", "@ ends cpu-limit", events=200, says="signal (9|24)|killed|CPU")
case("limit-locked", "@ surroundings locked", events=400000)
case("limit-data", "@ surroundings data", events=400000)
case("limit-address-space", "@ surroundings address-space", events=400000)
case("limit-stack-inside", "@ surroundings stack", events=400000)
case("limit-file-size-inside", "@ surroundings file-size", says="file size limit", events=1)
case("limit-processes-inside", "@ surroundings processes", events=400000)
case("file-size-signal", "@ surroundings file-size-limit", events=200, says="signal 25|XFSZ|file size limit")
case("memory-exhausted", "@ surroundings exhausted", events=200)
case("limit-group-memory", "in-memory-group 64M @ churn 5000000", events=10000000, needs="memory-groups")
case("limit-group-memory-threads", "in-memory-group 64M @ threads together 64", events=2560000, needs="memory-groups")
case("limit-group-memory-of-program", "@ in-memory-group 32M churn 5000000", says="started|executed", events=10,
     needs="memory-groups")
case("limit-group-memory-forks", "in-memory-group 64M @ starts forks", "--children", events=600, traces=21,
     needs="memory-groups")
case("limit-of-acre", "@ churn 1000000", "--limit 256K", says="limit was reached", events=200)
case("limit-of-acre-children", "@ starts forks", "--limit 300K --children", says="limit was reached|could not",
     events=200, traces=range(1, 22))

# Disks. The trace is made elsewhere where the full disk has no room for it.
rescue = ("; S=$?; [ $RECORDED = 0 ] || cp d/t.acre $TRACES 2>/dev/null || "
          "acre finish -q d/*.raw-* -o $TRACES/t.acre; exit $S")
full = "disk of .* was full|half of the free space on the disk|no space left"
cut = "cut off|was killed|what the program did after that is missing|cannot write|no space left"
case("full-tmpfs", "mkdir d; mount -t tmpfs -o size=1m none d; @ churn 400000" + rescue, "-o d/t.acre", same="stdout",
     may_say=cut, events=200, says=full, needs="mounts", leaves="raw")
case("full-tmpfs-later", "mkdir d; mount -t tmpfs -o size=8m none d; @ harms fills d" + rescue, "-o d/t.acre",
     same="stdout", may_say=cut, events=200, says=full, needs="mounts", leaves="raw")
case("full-tmpfs-already",
     "mkdir d; mount -t tmpfs -o size=64k none d; head -c 100000 /dev/zero >d/all 2>/dev/null; @ churn 1000",
     "-o d/t.acre", same="stdout", may_say=cut, traces=range(0, 2), says=full, needs="mounts", leaves="raw")
case("full-tmpfs-inodes", "mkdir d; mount -t tmpfs -o nr_inodes=3 none d; @ starts forks" + rescue,
     "-o d/t.acre --children", same="stdout", may_say=cut, traces=range(0, 22), needs="mounts", leaves="raw")
case("full-ext4", "mkdir d; truncate -s 4M i; mkfs.ext4 -q i; mount -o loop i d; @ churn 400000" + rescue,
     "-o d/t.acre", same="stdout", may_say=cut, events=200, says=full, needs="loop mkfs.ext4", leaves="raw")
case("full-btrfs",
     "mkdir d; truncate -s 120M i; mkfs.btrfs -qf i >/dev/null 2>&1; mount -o loop i d; @ churn 8000000" + rescue,
     "-o d/t.acre", same="stdout", may_say=cut, events=200, says=full, needs="loop", leaves="raw")
case("full-btrfs-while-running",
     "mkdir d; truncate -s 120M i; mkfs.btrfs -qf i >/dev/null 2>&1; mount -o loop i d; @ harms fills d" + rescue,
     "-o d/t.acre", same="stdout", may_say=cut, events=200, says=full, needs="loop", leaves="raw")
case("read-only-folder", "mkdir d; mount -t tmpfs -o ro none d; @ churn", "-o d/t.acre", same="", traces=0,
     says="cannot write", needs="mounts")
case("folder-of-another", "mkdir d; setpriv --reuid 54321 --clear-groups @ churn", "-o d/t.acre", same="", traces=0,
     says="cannot write", needs="root setpriv")
harmed = "deleted|removed|moved|no longer|damaged|changed|wrote"
case("log-deleted", "@ harms deletes", traces=range(0, 2), same="stdout stderr", says=harmed, silent="filesystem error",
     may_say=cut, leaves="raw")
case("log-emptied", "@ harms empties", traces=range(0, 2), same="stdout stderr", says=harmed, silent="filesystem error",
     may_say=cut, leaves="raw")
case("log-cut", "@ harms cuts", traces=range(0, 2), same="stdout stderr", says=harmed, silent="filesystem error",
     may_say=cut, leaves="raw")
case("log-overwritten", "@ harms overwrites", traces=range(0, 2), same="stdout stderr", says=harmed,
     silent="filesystem error", may_say=cut, leaves="raw")
case("log-read-only", "@ harms read-only", events=2002000, says=started, leaves="raw")
case("log-moved", "@ harms moves", traces=range(0, 2), same="stdout stderr", says=harmed, silent="filesystem error",
     may_say=cut, leaves="raw")

# Threads.
case("threads-16", "@ threads together 16", events=640000)
case("threads-64", "@ threads together 64", events=2560000)
case("threads-70000-in-turn", "@ threads in-turn 70000", events=140000)
case("threads-destructors", "@ threads destructor 50", events=4400)
case("threads-cancelled", "@ threads cancel 20", events=4200)
case("threads-ended-by-system-call", "@ threads by-system-call 10", events=2200)
case("threads-detached", "@ threads detached 50", events=10200)
case("threads-main-ends-first", "@ threads main-first", events=400)
case("threads-running-at-exit", "@ threads running-at-exit", events=1800)
case("threads-small-stack", "@ threads small-stack", events=16200)
case("threads-jemalloc", "@ threads-jemalloc together 8", events=320000, allocator="jemalloc")
case("threads-2000-unlimited-stack", "ulimit -s unlimited; @ threads in-turn 2000", events=4000)

# Ends.
case("end-return", "@ ends return 5", events=300)
case("end-255", "@ ends return 255", events=300)
case("end-exit", "@ ends exit 6", events=300)
case("end-underscore-exit", "@ ends _exit 7", events=200)
case("end-quick-exit", "@ ends quick_exit 8", events=300)
case("end-exit-group", "@ ends exit_group 9", events=200)
case("end-exit-in-thread", "@ ends exit-in-thread", events=300)
case("end-underscore-exit-in-thread", "@ ends _exit-in-thread", events=200)
case("end-abort", "@ ends abort", events=200, says="signal 6|SIGABRT|abort")
case("end-stack-overflow", "ulimit -s 1024; @ ends stack-overflow", events=200, says="signal 11|SIGSEGV")
case("end-null", "@ ends null", events=200, says="signal 11|SIGSEGV")
case("end-wild-free", "@ ends wild-free", events=200, says="signal (6|11)|SIGABRT|SIGSEGV")
case("end-double-free", "@ ends double-free", events=200, says="signal (6|11)|SIGABRT|SIGSEGV")
for number, name in ((1, "HUP"), (2, "INT"), (3, "QUIT"), (4, "ILL"), (5, "TRAP"), (7, "BUS"), (8, "FPE"), (9, "KILL"),
                     (10, "USR1"), (12, "USR2"), (13, "PIPE"), (14, "ALRM"), (15, "TERM"), (24, "XCPU"), (31, "SYS"),
                     (34, "RTMIN")):
    case(f"end-signal-{name}", f"@ ends signal {number}", events=200, says=f"signal {number}\\b|SIG{name}")
case("end-kill-self", "@ ends kill 9", events=200, says="signal 9|SIGKILL")
case("end-timeout", "@ timeout 0.3 sleep 5", same="status stdout stderr", says="executed|started|wrote")
case("end-timeout-kill", "@ timeout -s KILL 0.3 sleep 5", says="signal 9|SIGKILL")

# Signals.
case("alarm-storm", "@ signals alarm-storm", events=2000)
case("profile-storm", "@ signals profile-storm", events=2000)
case("signal-allocating-handler", "@ signals allocating-handler", events=800)
case("signal-recovers", "@ signals recovers", events=2200)
case("signal-recovers-from-overflow", "ulimit -s 1024; @ signals recovers-from-overflow", events=2200,
     may_say="signal handlers")
# A handler that jumps out of a hook ends the recording of its thread; acre counts what it does not have.
case("signal-jumps", "@ signals jumps-out-of-storm", events=4200, may_say="signal handlers")
case("signal-stop-and-go", "@ signals stop-and-go", events=1200)
case("signal-all-blocked", "@ signals all-blocked", events=2200)
case("signal-waits", "@ signals waits", events=200)
for number, name in ((15, "TERM"), (1, "HUP"), (2, "INT"), (3, "QUIT"), (10, "USR1")):
    case(f"signal-to-the-group-{name}", f"setsid -w @ signals to-the-group {number}", events=200, needs="setsid")
for name in ("USR1", "USR2", "ALRM", "VTALRM", "PROF", "IO", "STKFLT", "PWR", "RTMIN+3"):
    case(f"signal-to-acre-{name}", f"@ bash -c 'sleep 3; :' & sleep 0.4; kill -{name} $!; wait $!; echo $?",
         says="Signal [0-9]+ .* ended it")
case("signal-to-acre-handled",
     "@ bash -c 'trap \"exit 7\" USR1; sleep 1; :' & sleep 0.4; kill -USR1 $!; wait $!; echo $?", says="started")
case("signal-to-acre-PIPE",
     "acre record -o $TRACES/t.acre -- bash -c 'sleep 0.6; exit 3' & sleep 0.3; kill -PIPE $!; wait $!; echo $?",
     same="", prints="3", says="started|wrote")
case("signal-of-a-timer-before", "perl -e 'alarm 1; exec @ARGV' @ bash -c 'sleep 4; :'", says="Signal 14", needs="perl")
case("signal-at-parents-end", "@ setpriv --pdeathsig KILL churn 1000", events=2000, needs="setpriv")
case("signal-ignored-at-start", "trap '' INT TERM HUP USR1 PIPE; @ shows signals", events=200)
case("signal-child-ignored-at-start", "trap '' CHLD; @ shows signals", events=200)

# Descriptors.
for how in ("close_range", "closefrom", "close-each", "standard", "dup2", "lower-limit"):
    case(f"descriptors-{how}", f"@ descriptors {how}", events=2000200)
case("descriptors-fill", "@ descriptors fill", events=2000200)
case("descriptors-fill-and-go-on", "@ descriptors fill-and-go-on", says=started, events=4000200)
case("descriptors-closed-at-start", "@ churn <&- >&- 2>&-", same="status", events=200)
case("descriptors-standard-input-closed", "@ shows descriptors <&-", events=200)
case("descriptors-standard-output-closed", "@ churn >&-", events=200)
case("descriptors-standard-error-closed", "@ churn 2>&-", same="status stdout", events=200)
case("descriptors-open-at-start", "exec 3</dev/null 7</dev/null 200</dev/null 1000</dev/null; @ shows descriptors",
     events=200)
case("output-full", "@ shows limits >/dev/full", events=200)
case("output-full-error", "@ churn 2>/dev/full", same="status stdout", events=200)
case("output-errors-broken-pipe", "( @ bash -c 'sleep 0.3; exit 7' 2>&1; echo $? >ended) | true; cat ended", traces=1)
case("output-broken-pipe", "(sleep 0.2; @ yes) | head -c 100000 | wc -c", events=0, traces=range(0, 2),
     says="signal 13|SIGPIPE|no allocation|wrote")

# Allocators other than the C library's.
case("own-malloc", "@ own_malloc", traces=0, same="", says="malloc of its own")
case("own-malloc-executed", "@ becomes execv own_malloc", events=200, says="malloc of its own|could not be recorded")
case("own-malloc-child", "@ starts spawn own_malloc", says=started, events=200)
case("own-malloc-child-children", "@ starts spawn own_malloc", "--children", events=200, traces=range(1, 3),
     says="malloc of its own|could not be recorded")
case("own-new", "@ own_new", events=1600)
case("jemalloc-linked", "@ sizes-jemalloc", events=8000, allocator="jemalloc")
case("jemalloc-preloaded", "env LD_PRELOAD=libjemalloc.so.2 @ sizes", events=8000,
     needs="/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", same="status stdout stderr", allocator="jemalloc")
case("jemalloc-preloaded-inside", "@ env LD_PRELOAD=libjemalloc.so.2 sizes", events=8000,
     needs="/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", allocator="jemalloc")
case("jemalloc-linked-in", "@ sizes-jemalloc-static", traces=0, same="", says="malloc of its own")
case("jemalloc-conf", "MALLOC_CONF=stats_print:false,dirty_decay_ms:0 @ sizes-jemalloc", events=8000,
     allocator="jemalloc")
for how in ("mallocx-free", "malloc-sdallocx", "malloc-dallocx", "malloc-rallocx", "mallocx-realloc", "sizes", "flags"):
    case(f"jemalloc-{how}", f"@ jemalloc_only {how}", events=200, allocator="jemalloc")
case("tcmalloc-linked", "@ sizes-tcmalloc", events=8000, allocator="tcmalloc")
case("tcmalloc-preloaded", "env LD_PRELOAD=libtcmalloc.so.4 @ sizes", events=8000,
     needs="/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4", allocator="tcmalloc")
case("tcmalloc-own-functions", "@ tcmalloc_only", events=200, allocator="tcmalloc")
case("mimalloc-linked", "@ sizes-mimalloc", events=8000, allocator="mimalloc")
case("mimalloc-preloaded", "env LD_PRELOAD=libmimalloc.so.2 @ sizes", events=8000,
     needs="/usr/lib/x86_64-linux-gnu/libmimalloc.so.2", allocator="mimalloc")
case("mimalloc-own-functions", "@ mimalloc_only", events=200, allocator="mimalloc")
case("other-preloaded", "env LD_PRELOAD=$BIN/plugin @ churn", events=200)
case("missing-preloaded", "env LD_PRELOAD=/there/is/none.so @ churn", events=200, same="status stdout")
case("malloc-check", "MALLOC_CHECK_=3 MALLOC_PERTURB_=165 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 @ memory edges",
     events=200)

# Memory.
case("memory-edges", "@ memory edges", events=200)
case("memory-alignments", "@ memory alignments", events=200)
case("memory-errno", "@ memory errno", events=200000)
case("memory-sparse", "@ memory sparse", events=4000)
case("memory-tuned", "@ memory tuned", events=2200)
case("memory-sbrk", "@ memory sbrk", events=20000)
case("memory-kept", "@ memory keeps", events=100000)

# Libraries, stacks and unwind tables.
for how in ("storm", "storm-beside-threads", "deep-bind", "dlmopen", "next", "from-the-c-library"):
    case(f"load-{how}", f"@ loads {how}", events=200)
case("deep-recursion", "@ stacks deep 50000", events=100000)
case("deep-recursion-frame-pointers", "@ stacks deep 50000", "--stacks=fp", events=100000, says="frame pointers")
case("stacks-branching", "@ stacks branching 100000", events=200000)
case("stacks-contexts-64K", "@ stacks contexts 65536", events=2000)
case("stacks-contexts-16K", "@ stacks contexts 16384", events=2000)
case("stacks-contexts-8K", "@ stacks contexts 8192", events=2000)
case("stacks-no-registers", "@ stacks no-registers", events=400)
case("stacks-no-registers-frame-pointers", "@ stacks no-registers", "--stacks=fp", events=400, says="frame pointers")
case("tables-damaged", "@ churn-damaged 1000", events=2000)
case("tables-damaged-branching", "@ stacks-damaged branching 1000", events=2000)
case("tables-missing", "@ churn-no-tables 1000", events=2000)
case("stripped", "@ churn-stripped", events=200)
case("not-position-independent", "@ churn-no-pie", events=200)

# Surroundings.
for how in ("clearenv", "no-environ", "own-environ"):
    case(f"environment-{how}", f"cp $BIN/churn .; @ surroundings {how}", says=started, events=200)
    case(f"environment-{how}-children", f"cp $BIN/churn .; @ surroundings {how}", "--children", events=600,
         traces=range(2, 5))
case("environment-empty-preload", "LD_PRELOAD= @ shows environment", events=200)
case("environment-empty-preload-child", "LD_PRELOAD= @ starts spawn shows environment", says=started, events=200)
case("environment-empty-preload-children", "LD_PRELOAD= @ starts spawn churn 100", "--children", traces=2, events=400)
case("environment-empty", "@ env -i $BIN/churn", events=200)
case("environment-empty-children", "@ env -i $BIN/starts spawn $BIN/churn", "--children", events=400,
     traces=range(2, 3))
case("environment-large",
     "export LARGE=$(head -c 100000 /dev/zero | tr '\\0' x) L2=$(head -c 100000 /dev/zero | tr '\\0' y); "
     "for i in 1 2 3 4 5 6 7 8; do export M$i=$LARGE; done; @ starts spawn shows environment",
     says=started, events=200)
case("environment-600-entries", "for i in {1..600}; do export V$i=$i; done; @ starts spawn shows environment", "",
     says=started, events=200)
case("environment-600-entries-children", "for i in {1..600}; do export V$i=$i; done; @ starts spawn churn",
     "--children", events=400, traces=2)
case("arguments-many", "@ churn 100 $(seq 2 20000)", events=200)
case("folder-removed", "@ surroundings folder-removed", "--children", events=400000, traces=2)
case("folder-removed-before", "mkdir g; cd g; rmdir ../g; @ churn", events=200, same="status stdout")
case("umask-777", "@ surroundings umask-777", events=400000)
case("umask-777-before", "umask 777; @ churn", events=200)
case("without-home-and-tmpdir", "unset HOME TMPDIR; @ starts fork", "--children", events=400, traces=2)
case("unwritable-tmpdir", "export TMPDIR=/there/is/none HOME=/proc/1; @ starts fork", "--children", events=400,
     traces=2)
case("empty-path", "@ env PATH= $BIN/starts fork", "--children", events=400, traces=2, says="executed 2 programs")

# Under other programs, and other programs under acre.
case("under-timeout", "timeout 20 @ churn", events=200)
case("under-nohup", "nohup @ churn", events=200, same="status stdout", needs="nohup")
case("under-nice", "nice -n 5 @ churn", events=200)
case("under-setsid", "setsid -w @ churn", events=200, needs="setsid")
case("under-setarch", "setarch -R @ starts fork", "--children", events=400, traces=2, needs="setarch")
case("under-stdbuf", "stdbuf -o0 @ starts spawn shows environment", says=started, events=200, needs="stdbuf")
case("under-strace", "strace -f -o /dev/null @ starts fork", "--children", events=400, traces=2, needs="strace")
case("over-strace", "@ strace -f -o /dev/null churn", "--children", events=200, traces=range(1, 4), needs="strace")
# In 1 of 60 runs a part of the log is missing: probably gdb ends while its own threads write an event.
case("over-gdb", "@ gdb -q -batch -nx -ex run --args churn 100 3", same="status", says="started|wrote|damaged",
     needs="gdb")
case("over-valgrind", "@ valgrind -q churn", "--children", same="status stdout", traces=range(0, 5),
     says="could not|static|started|wrote", needs="valgrind")
case("over-setarch", "@ setarch -R churn", events=200, says="executed 2 programs", needs="setarch")
case("over-nohup", "@ nohup churn", same="status stdout", events=200, says="executed 2 programs", needs="nohup")
odd = "'a b:c;d/$LIB/é'"
case("acre-in-odd-folder",
     f"mkdir -p {odd}/bin {odd}/lib; cp $(command -v acre) {odd}/bin/acre; "
     f"cp $(dirname $(command -v acre))/../lib/libacre-record.so {odd}/lib/; PATH=$PWD/{odd}/bin:$PATH; @ starts fork",
     "--children", events=400, traces=2)
case("trace-in-odd-folder", f"mkdir -p {odd}; @ starts fork", f"-o {odd}/t.acre --children", events=400, traces=2)
case("in-a-terminal", "script -qec ' @ starts fork ' /dev/null", "--children", same="status", events=400, traces=2,
     needs="script")
case("bound-at-start", "export LD_BIND_NOW=1; @ starts fork", "--children", events=400, traces=2)
case("acre-recording-acre", "@ acre record -q -o $TRACES/inner.acre -- churn", traces=range(1, 3), same="",
     says="wrote")
case("acre-killed",
     "acre record -o $TRACES/t.acre -- harms kills-acre; wait; sleep 0.2; "
     "acre finish $TRACES/*.raw-* -o $TRACES/t.acre && rm -r $TRACES/*.raw-*",
     same="", events=200, says="cut off|not known")
case("acre-terminated", "acre record -o $TRACES/t.acre -- sleep 20 & sleep 0.4; kill $!; wait $!; echo $?", same="",
     traces=range(0, 2), prints="143", says="signal 15|SIGTERM")
case("acre-interrupted",
     "set -m; acre record -o $TRACES/t.acre -- bash -c 'sleep 0.6; exit 3' & sleep 0.3; kill -INT $!; wait $!; echo $?",
     same="", traces=1, prints="3", says="started|wrote")
case("inherited-children", "bash -c 'sleep 2 & exec @ churn'", events=200, silent="left")
case("outlives", "@ outlives 2; sleep 3; cat growth", says="left 1 process|started", events=2000, needs="root")
case("outlives-children", "@ outlives 2; sleep 3; cat growth", "--children", says="left 1 process", events=2000,
     traces=2, needs="root")

# Nothing to record: the program's status stays.
case("nothing-allocated", "@ /bin/false", traces=0,
     says="wrote no trace, since nothing was recorded: .*status 1, and the recorder saw no allocation")
case("nothing-resumed", "@ churn 100 3", "--paused", traces=0, says="wrote no trace.*before its recording was resumed")
case("nothing-in-the-sample", "@ churn 1 3", "--sample 1000000", traces=0,
     says="wrote no trace.*none of its allocations was in the sample")
case("nothing-allocated-and-started", "@ dash -c '/bin/true; exit 4'", "--paused", traces=0,
     says=["wrote no trace", "started 1 process"])

# What is refused, before anything starts.
for kind, why in (("static", "static"), ("musl", "glibc|loader"), ("asan", "AddressSanitizer"),
                  ("tsan", "ThreadSanitizer"), ("lsan", "LeakSanitizer"), ("msan", "MemorySanitizer")):
    case(f"refused-{kind}", f"@ churn-{kind}", same="", traces=0, says=why)
case("refused-option-as-name", "@ churn", "-o --children", same="", traces=0,
     says="looks like an option: write ./--children")
case("refused-unreadable-trace", "echo x >o; chmod 600 o; setpriv --reuid 54321 --clear-groups @ churn", "-o o",
     same="", traces=0, says="Permission denied", silent="is not a trace", needs="root setpriv")
case("refused-32-bit", "@ exits_32", same="", traces=0, says="32-bit")
case("refused-setuid", "setpriv --reuid 54321 --clear-groups @ churn-setuid", same="", traces=0, says="setuid",
     needs="root setpriv")
case("ubsan", "@ churn-ubsan", events=200)

# Foreign programs.
case("bash-script", "@ bash -c 'for i in 1 2 3; do echo $(echo $i); ls / | sort | tail -1; done'", says=started,
     events=200)
case("bash-script-children", "@ bash -c 'for i in 1 2 3; do echo $(echo $i); ls / | sort | tail -1; done'",
     "--children", events=200, traces=range(8, 30))
case("dash-script", "@ dash -c 'trap \"echo bye\" EXIT; (exit 3); echo $?'", says=started, traces=1)
case("python3",
     "@ python3 -c 'import json, threading, subprocess; print(json.dumps(list(range(10)))); "
     "subprocess.run([\"true\"])'",
     says=started, events=1000, needs="python3")
case("python3-multiprocessing", "@ python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, range(10)))'",
     "--children", events=1000, traces=range(2, 8), needs="python3")
case("perl", "@ perl -e 'my %h = map { $_ => \"x\" x $_ } 1..1000; print scalar(keys %h), `echo inner`'", says=started,
     events=1000, needs="perl")
case("node",
     "@ node -e 'const { execSync } = require(\"child_process\"); "
     "console.log(execSync(\"echo inner\") + \"\", [1,2,3].map(x => x * 2))'",
     says=started, events=1000, needs="node")
case("java", "@ java -Xmx64m -XX:TieredStopAtLevel=1 -version", same="status stdout", events=1000, needs="java")
case("go", "@ go version", traces=range(0, 2), same="", says="static|started|wrote", needs="go")
case("rust", "@ rustc --version", events=20, needs="rustc", may_say="malloc of its own")
case("sqlite3",
     "@ sqlite3 :memory: 'create table t(a); with recursive c(x) as (select 1 union all select x+1 from c where "
     "x<10000) insert into t select randomblob(10) from c; select count(*) from t'",
     events=10000, needs="sqlite3")
case("redis-server",
     "@ redis-server --port 0 --unixsocket $PWD/s --save '' --daemonize no >log & for i in {1..100}; "
     "do [ -S s ] && break; sleep 0.1; done; redis-cli -s s set a b; redis-cli -s s get a; "
     "redis-cli -s s shutdown nosave; wait $!; echo $?",
     same="stdout", events=1000, needs="redis-server", allocator="jemalloc")
case("redis-server-saves",
     "@ redis-server --port 0 --unixsocket $PWD/s --save '' --daemonize no >log & for i in {1..100}; "
     "do [ -S s ] && break; sleep 0.1; done; redis-cli -s s set a b; redis-cli -s s save; redis-cli -s s bgsave; "
     "sleep 0.5; redis-cli -s s shutdown nosave; wait $!; echo $?",
     "--children", same="stdout", events=1000, traces=range(1, 4), needs="redis-server", allocator="jemalloc")
case("make", "printf 'all: a b c\\na b c:\\n\\t@echo $@ >$@; cat $@ >/dev/null\\n' >Makefile; @ make -s -j2",
     says=started, events=200, needs="make")
case("make-children", "printf 'all: a b c\\na b c:\\n\\t@echo $@ >$@; cat $@ >/dev/null\\n' >Makefile; @ make -s -j2",
     "--children", events=200, traces=range(4, 20), needs="make")
case("git",
     "git init -q .; echo x >f; git add f; git -c user.name=a -c user.email=b commit -qm c; @ git log --format=%s",
     says="", events=200, needs="git")
case("gcc", "@ gcc -O1 -c -o x.o -I$SOURCES $SOURCES/churn.c; ls x.o", says=started, events=200)
case("gcc-children", "@ gcc -o x -I$SOURCES -w $SOURCES/churn.c; ls x", "--children", events=1000, traces=range(4, 9))
case("tclsh", "echo 'puts [exec echo hi]' | @ tclsh", says=started, events=100, needs="tclsh")
case("awk", "seq 1000 | @ awk '{ a[$1] = $1 } END { print length(a); system(\"echo hi\") }'", says=started, events=10,
     needs="awk")
case("clang", "@ clang-19 -O1 -c -o x.o -I$SOURCES $SOURCES/churn.c; ls x.o", events=200, needs="clang-19")
case("jq", "@ jq -cn '[range(1000)] | add'", events=1000, needs="jq")
case("xz-threads", "head -c 3000000 /dev/zero | @ xz -T2 -c | wc -c", events=10, needs="xz")
case("tar-pipe", "@ tar -czf - -C $SOURCES . | wc -c >/dev/null", says=started, events=200, needs="tar gzip")
case("sort-large", "seq 200000 | @ sort -R --random-source=/dev/zero -S 1M -T . | md5sum", events=10, needs="sort",
     says="")
