"""Installs libacre.so to an empty folder, as `cmake --install` does, and looks whether GDB finds the printers by itself
in a program with that library, and by the path that docs/debugging.md names.

Usage: installed_test.py GDB CMAKE BUILD PROGRAM     BUILD: the build tree; PROGRAM: that of gdb_test.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def printed(gdb, program, *commands):
    arguments = [gdb, "-nx", "-batch", "-ex", "set width 0", "-ex", "set confirm off"]
    for command in (*commands, "file " + program, "break stopped", "run", "print shown::empty_arena"):
        arguments += ["-ex", command]
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    return result.stdout + result.stderr


def install(cmake, build, to):
    """The rules of two folders: all others want more to be built. Returns the prefix within `to`."""
    for script in ("c/cmake_install.cmake", "cmake_install.cmake"):
        # Another prefix than that of the configuration, as of `cmake --install --prefix`.
        arguments = [cmake, "-D", "CMAKE_INSTALL_PREFIX=/usr", "-D", "CMAKE_INSTALL_LOCAL_ONLY=1",
                     "-D", "CMAKE_INSTALL_DO_STRIP=1", "-P", script]
        subprocess.run(arguments, cwd=build, env={**os.environ, "DESTDIR": str(to)}, check=True,
                       stdout=subprocess.DEVNULL)
    (script,) = to.rglob("share/acre/debuggers/gdb/acre.py")
    return script.parents[4]


def main():
    gdb, cmake, build, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        to = pathlib.Path(folder).resolve() / "installed"
        prefix = install(cmake, pathlib.Path(build), to)
        (library,) = (each for each in prefix.rglob("libacre.so.*.*.*") if each.suffix != ".py")
        # Where GDB looks for a library's script: its own folder, and behind that the library's whole path. For GDB, the
        # new folder is a part of that path.
        scripts = pathlib.Path(folder).resolve() / "scripts"
        at = scripts / to.relative_to("/")
        at.parent.mkdir(parents=True)
        at.symlink_to(prefix / "share/gdb/auto-load")
        text = printed(gdb, program, "set auto-load scripts-directory %s" % scripts,
                       "add-auto-load-safe-path %s" % folder,
                       "set exec-wrapper env LD_PRELOAD=%s" % library)
        if "Operation not permitted" in text:
            print("gdb may not run a program here:\n" + text)
            return
        if "acre::arena: 0 of 0 bytes used" not in text:
            sys.exit("GDB does not find the printers of %s:\n%s" % (library, text))
        text = printed(gdb, program, "source %s" % (prefix / "share/acre/debuggers/gdb/acre.py"))
        if "acre::arena: 0 of 0 bytes used" not in text:
            sys.exit("GDB does not load what is installed:\n" + text)
        if not (prefix / "share/acre/debuggers/acre.natvis").is_file():
            sys.exit("acre.natvis is not installed")
    print("GDB finds the printers of an installed libacre.so, and sources those in share/acre/debuggers")


main()
