"""What the test scripts have from PyPI and npm, fetched once into a build folder; and how they run commands."""
import shutil
import subprocess
import sys


class Failure(Exception):
    """What a check found wrong, in one line."""


def run(command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace",
                          check=False, **more)


def run_or_fail(what, command, **more):
    done = run(command, **more)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise Failure(f"{what} failed: {last}")
    return done.stdout


def same(file, copy):
    return file.exists() and copy.exists() and file.read_text() == copy.read_text()


def python_packages(wanted, environment):
    """Makes a virtual environment with what the file `wanted` names. Returns why it cannot, or nothing."""
    installed = environment / "requirements.txt"
    if same(wanted, installed):
        return ""
    try:
        run_or_fail("making a Python environment", [sys.executable, "-m", "venv", "--clear", environment])
        run_or_fail("installing from PyPI", [environment / "bin/pip", "install", "--quiet",
                                             "--disable-pip-version-check", "--retries", "1", "-r", wanted])
    except Failure as failure:
        return str(failure)
    shutil.copy(wanted, installed)
    return ""


def node_packages(sources, folder):
    """Installs what the package.json in the folder `sources` locks. Returns why it cannot, or nothing."""
    if not shutil.which("npm"):
        return "there is no npm"
    lock, installed = sources / "package-lock.json", folder / "package-lock.json"
    if (folder / "node_modules").exists() and same(lock, installed):
        return ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in (sources / "package.json", lock):
            shutil.copy(each, folder)
        run_or_fail("installing from npm", ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
                                            "--fetch-retries=1"], cwd=folder)
    except Failure as failure:
        installed.unlink(missing_ok=True)
        return str(failure)
    return ""
