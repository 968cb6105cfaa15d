"""Hostile submissions: each attack appends its success to the list `done`.

The test defines the names in capitals: a secret file of the grader, its processes, its sockets.
"""

from __future__ import annotations

SYSTEM_CALLS = """
import ctypes
kernel = ctypes.CDLL(None, use_errno=True).syscall
"""

FRAMES = """
import sys
frame = sys._getframe()
while frame is not None:
    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
        if type(value).__module__ == "__main__" and callable(value):
            try: type(value).__call__ = lambda self, *a, **k: None
            except TypeError: pass
    frame = frame.f_back
"""
"""Replace monitoring functions in the same process; further attacks continue from there."""

ATTACKS: dict[str, str] = {
    "reads a file": "done.append(open(FILE).read())",
    "reads system files": "for name in ('/etc/passwd', '/etc/shadow', '/proc/1/environ', '/proc/self/maps'):\n"
    "    try: done.append(open(name).read())\n    except OSError: pass",
    "lists folders": "import os\nfor name in (os.path.dirname(FILE), '/home', '/proc', '/var', '/dev', '/run'):\n"
    "    try: done.extend(os.listdir(name))\n    except OSError: pass",
    "reads through a link": "import os\nos.symlink(FILE, '/tmp/x')\ndone.append(open('/tmp/x').read())",
    "links a file": "import os\nos.link(FILE, '/tmp/x')\ndone.append('linked')",
    "writes a file": "open(FILE, 'w').write('1')\ndone.append('written')",
    "writes its result": "import os\nfolder = os.path.dirname(FILE)\nos.makedirs(folder, exist_ok=True)\n"
    "open(os.path.join(folder, 'eve.json'), 'w').write('{}')",
    "removes a file": "import os\nos.remove(FILE)\ndone.append('removed')",
    "changes the mode of a file": "import os\nos.chmod(FILE, 0)\ndone.append('changed')",
    "changes the times of a file": "import os\nos.utime(FILE, (0, 0))\ndone.append('changed')",
    "changes a package": "import os, fedtheory\nname = fedtheory.__file__\n"
    "for action in (lambda: os.chmod(name, 0), lambda: os.utime(name, (0, 0)), lambda: os.remove(name),\n"
    "    lambda: open(name, 'a'), lambda: os.mkdir(os.path.dirname(name) + '/x')):\n"
    "    try: action(); done.append('changed')\n    except OSError: pass",
    "changes open files": "import os, stat\nfor number in range(64):\n    try: kind = os.fstat(number).st_mode\n"
    "    except OSError: continue\n    if not stat.S_ISFIFO(kind): done.append((number, kind)); os.fchmod(number, 0)",
    "limits its parent": "import os, resource\nresource.prlimit(PROCESS, resource.RLIMIT_FSIZE, (0, 0))\n"
    "done.append('limited')",
    "lifts its limits": "import resource\nfor kind in map(resource.__dict__.get, ('RLIMIT_CPU', 'RLIMIT_AS')):\n"
    "    try: resource.setrlimit(kind, (-1, -1)); done.append('lifted')\n    except (ValueError, OSError): pass",
    "reads its parent's limits": "import resource\ndone.append(resource.prlimit(PROCESS, resource.RLIMIT_FSIZE))",
    "signals a process": "import os, signal\nos.kill(PROCESS, signal.SIGKILL)\ndone.append('killed')",
    "signals every process": "import os\nos.kill(-1, 9)\nos.kill(1, 9)\nos.kill(os.getppid(), 9)\nos.killpg(0, 9)",
    "changes a priority": "import os\nos.setpriority(os.PRIO_PROCESS, PROCESS, 19)\ndone.append('changed')",
    "changes all priorities": "import os\nfor kind in (os.PRIO_PROCESS, os.PRIO_PGRP, os.PRIO_USER):\n"
    "    for who in (0, 1, os.getppid(), os.getuid()):\n"
    "        try: os.setpriority(kind, who, 19)\n        except OSError: pass",
    "moves a process to another core": "import os\nos.sched_setaffinity(PROCESS, {0})\ndone.append('moved')",
    "sends UDP": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "s.sendto(b'stolen', ('127.0.0.1', UDP))\ndone.append('sent')",
    "connects by TCP": "import socket\nsocket.create_connection(('127.0.0.1', TCP), 2).send(b'stolen')\n"
    "done.append('sent')",
    "connects by a file": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(UNIX)\ndone.append('sent')",
    "connects by an abstract name": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(ABSTRACT)\n"
    "done.append('sent')",
    "opens sockets of every family": "import socket\nfor family in range(46):\n    for kind in (1, 2, 3):\n"
    "        try: socket.socket(family, kind); done.append(family)\n        except OSError: pass",
    "forks": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        import time; time.sleep(120)\n    os._exit(0)\ndone.append('forked')",
    "spawns": "import os, subprocess, sys\nfor start in (lambda: subprocess.Popen([sys.executable, '-c', '1']),\n"
    "    lambda: os.posix_spawn(sys.executable, [sys.executable], {}), lambda: os.forkpty()):\n"
    "    try: start(); done.append('spawned')\n    except OSError: pass",
    "starts threads": "import threading\nfor _ in range(10_000):\n    threading.Thread(target=print).start()\n"
    "    done.append('started')",
    "forks by system calls": SYSTEM_CALLS + "for number in CLONES:\n    if kernel(number, 17, 0, 0, 0, 0) >= 0:\n"
    "        done.append(number)",
    "traces": SYSTEM_CALLS
    + "for number in TRACES:\n    if kernel(number, 16, 1, 0, 0, 0, 0) >= 0: done.append(number)",
    "makes shared memory": SYSTEM_CALLS + "for number in SHARED:\n    if kernel(number, 1234, 4096, 0o1666) >= 0:\n"
    "        done.append(number)",
    "shares memory by name": "from multiprocessing.shared_memory import SharedMemory\n"
    "done.append(SharedMemory('x', create=True, size=100).name)",
    "opens memory files": "import os\ndone.append(os.memfd_create('x'))",
    "reads keys": SYSTEM_CALLS + "for number in KEYS:\n    if kernel(number, 0, -3, 0, 0, 0) >= 0: done.append(number)",
    "leaves its namespaces": SYSTEM_CALLS + "for number in NAMESPACES:\n    if kernel(number, 0x10000000, 0, 0) >= 0:\n"
    "        done.append(number)",
    "mounts": "import ctypes\nlibrary = ctypes.CDLL(None)\n"
    "for place in (b'/', b'/usr/lib', b'/tmp'):\n    if library.mount(b'none', place, b'tmpfs', 32 | 4096, 0) == 0:\n"
    "        done.append(place)\n    if library.umount2(place, 2) == 0: done.append(place)",
    "reads the solutions": "import os, fedtheory\nhome = os.path.dirname(fedtheory.__file__)\n"
    "for start in (home, home + '/../verify', home + '/../report'):\n    for folder, _, files in os.walk(start):\n"
    "        for name in files:\n            path = os.path.join(folder, name)\n"
    "            if any(word in path for word in ('assignments', '/verify/', '/report/')) and '/cli/' not in path:\n"
    "                try: done.append((path, open(path).read()))\n                except OSError: pass",
    "imports the solutions": "from importlib import import_module\nfor name in SOLUTIONS:\n"
    "    try: module = import_module(name)\n    except ImportError: continue\n"
    "    if getattr(module, '__file__', None): done.append(name)",
    "looks for the solutions in memory": "import gc, sys\nfor item in gc.get_objects():\n"
    "    if type(item).__module__.startswith(('verify', 'fedtheory')): done.append(type(item))\n"
    "done.extend(name for name in sys.modules if name.startswith(('verify', 'fedtheory')))",
    "reads the environment": "import os\ndone.extend(name for name in os.environ if 'SECRET' in name)",
    "executes another program": "import os, sys\nfor name in ('/bin/sh', '/usr/bin/env', '/usr/bin/bwrap'):\n"
    "    if os.path.exists(name): done.append(name)",
    "becomes another program": "import os, sys\nos.execv(sys.executable, ['python', '-c', 'print(1)'])",
}
