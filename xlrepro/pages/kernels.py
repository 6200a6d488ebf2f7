"""Kernels of this interpreter, whatever kernels the user has, forked with all imports made.

A kernel that starts from nothing imports for two seconds, with torch for five: of all notebooks
half the time. These come from the process that the engine's workers are forked from, which has
loaded `xlrepro.pages.loaded`.
"""

import os
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from ipykernel.kernelapp import launch_new_instance
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

from xlrepro.engine import WORKER_ENVIRONMENT


class _Kernel(get_context("forkserver").Process):  # type: ignore[misc]
    """A forked kernel, with what Jupyter asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None
    wait = BaseProcess.join

    def poll(self) -> int | None:
        return self.exitcode  # type: ignore[no-any-return]

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


class _Forked(LocalProvisioner):
    """Starts kernels, and is otherwise Jupyter's own."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        self.process = _Kernel(target=_serve, args=(cmd, options["env"], options.get("cwd", ".")))
        self.process.start()
        return self.connection_info


class ThisInterpreter(AsyncKernelManager):
    """Manages a kernel."""

    # Quiet: it is interrupted at its end, and would call that an error
    kernel_spec = KernelSpec(argv=["--quiet", "-f", "{connection_file}"], env=WORKER_ENVIRONMENT)

    async def _async_pre_start_kernel(self, **options: Any) -> tuple[list[str], dict[str, Any]]:
        self.provisioner = _Forked(kernel_spec=self.kernel_spec, parent=self)
        return await super()._async_pre_start_kernel(**options)


def _serve(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Be a kernel, while the process that asked for it is there."""
    Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    os.environ.update(environment)
    os.chdir(folder)
    os.setsid()  # a terminal's Ctrl-C is not for kernels, as Jupyter starts them too
    launch_new_instance(argv=arguments)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
