"""The server sends small messages at once, and does not spread small matrices over threads."""

import socket

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from svmviz.ui import server


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as result:
        yield result


def nodelay(item):
    return item.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_listening_sockets_send_small_messages_at_once(listening):
    server.tune.clear()
    assert not nodelay(listening)
    assert server.tune() >= 1
    assert nodelay(listening)
    with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
        assert nodelay(accepted)


def test_closed_and_other_sockets_are_left_alone():
    with socket.socket() as idle, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram:
        assert not server._listens(idle)
        assert not server._listens(datagram)
    assert not server._listens(idle)


def test_linear_algebra_keeps_to_one_thread():
    with threadpool_limits():  # puts back what was there before
        server.one_thread.clear()
        server.one_thread()
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        assert pools
        assert all(pool["num_threads"] == 1 for pool in pools)
