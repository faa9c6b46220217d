"""Whether the Hugging Face hub can be reached, found out in seconds rather than by a library's retries.

Its library reads the environment once, when it is imported: here only when it is needed, and by then that is set.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 3.0
PORTS = {"https": 443, "http": 80}


@cache
def go_offline_if_unreachable() -> bool:
    """Whether the Hugging Face libraries are offline; they are switched so where the hub does not answer.

    Offline they look into their caches only, and fail at once for what is not there. Asked once per process, and only
    when something is wanted from the hub: a run on local files makes no connection.
    """
    from huggingface_hub import constants

    if not constants.is_offline_mode() and not is_reachable(constants.ENDPOINT):
        logger.warning(
            "No answer from %s within %g s: looking into the local cache only.", constants.ENDPOINT, CONNECT_SECONDS
        )
        _switch_offline()
    return constants.is_offline_mode()


def cached_commit(name: str, file: str, revision: str | None) -> str | None:
    """Of a repository whose `file`, at its top, was read before; from the local cache alone."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, file, revision=revision)
    return Path(found).parent.name if isinstance(found, str) else None


def is_reachable(url: str, *, seconds: float = CONNECT_SECONDS) -> bool:
    """Whether the host of `url`, or the proxy that leads there, takes a connection in time."""
    answer: SimpleQueue[bool] = SimpleQueue()
    host, port = _address(url)
    # A thread, because a stalled name look-up heeds no timeout; as a daemon it does not outlive the process.
    Thread(target=lambda: answer.put(_connects(host, port, seconds)), daemon=True).start()
    try:
        return answer.get(timeout=seconds)
    except Empty:
        return False


def _connects(host: str, port: int, seconds: float) -> bool:
    try:
        with socket.create_connection((host, port), timeout=seconds):
            return True
    except OSError:
        return False


def _address(url: str) -> tuple[str, int]:
    """Host and port that a request to `url` connects to first."""
    target = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(target.scheme) or proxies.get("all")
    if proxy and not proxy_bypass(target.hostname or ""):
        target = urlsplit(proxy if "//" in proxy else f"http://{proxy}")
    return target.hostname or "", target.port or PORTS.get(target.scheme, 443)


def _switch_offline() -> None:
    """Tell libraries not yet imported by the environment, and the others by the constants they read."""
    from huggingface_hub import constants

    os.environ["HF_HUB_OFFLINE"] = "1"
    constants.HF_HUB_OFFLINE = True
    if (datasets_config := sys.modules.get("datasets.config")) is not None:
        vars(datasets_config).update(HF_HUB_OFFLINE=True, HF_DATASETS_OFFLINE=True)
