"""The guarantees of `tests/conftest.py`."""

from __future__ import annotations

import socket
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from django.conf import settings

from cms_project.celery import app
from cms_project.folders import BASE_DIR
from tests.ports import free_port, is_free


def test_nothing_beyond_this_machine_is_reached():
    with socket.socket() as probe:
        probe.settimeout(1)

        with pytest.raises(PermissionError, match="tests may not connect"):
            probe.connect(("192.0.2.1", 80))


def test_this_machine_is_reached():
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()

        client.connect(server.getsockname())


def test_files_go_to_folders_of_the_tests():
    assert not settings.DATA_DIR.is_relative_to(BASE_DIR)
    assert not settings.MEDIA_ROOT.is_relative_to(BASE_DIR)


def test_tasks_run_where_they_are_called():
    assert app.conf.task_always_eager is True


def test_processes_at_once_get_ports_of_their_own():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        ports = [request.result() for request in [pool.submit(free_port) for _ in range(40)]]

    assert len(set(ports)) == 40


def test_a_port_in_use_is_not_given():
    with socket.create_server(("127.0.0.1", free_port())) as server:
        assert not is_free(server.getsockname()[1])
