"""Settings of the running server that no configuration file can reach."""

import gc
import socket

import streamlit as st
from threadpoolctl import threadpool_limits


@st.cache_resource(show_spinner=False)
def one_thread() -> None:
    """Keep each visitor's linear algebra to one thread, once a server.

    The matrices that follow a pen are small. Several threads then mostly wait for each other, and worse when several
    visitors draw: an MC-SVM of 140 samples and six classes took 776 ms of processor time on two cores, and 71 ms so.
    """
    threadpool_limits(1)


@st.cache_resource(show_spinner=False)
def tune() -> int:
    """Send small messages at once instead of waiting for more (TCP_NODELAY), once a server.

    Streamlit leaves Nagle's algorithm on, which holds the second of two messages back for about 43 ms.
    Connections inherit the setting from the socket that listens, so that one is enough.

    Returns
    -------
    int
        Number of listening sockets that were found.
    """
    listening = [item for item in gc.get_objects() if isinstance(item, socket.socket) and _listens(item)]
    for item in listening:
        item.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return len(listening)


def _listens(item: socket.socket) -> bool:
    """Whether a socket waits for TCP connections."""
    try:
        return (
            item.family in (socket.AF_INET, socket.AF_INET6)
            and item.type == socket.SOCK_STREAM
            and bool(item.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
        )
    except OSError:  # closed meanwhile
        return False
