"""Faults that a machine can have, brought about on purpose, and what must hold afterwards.

    outcome          what a driver counts: acknowledged, lost, doubled, wrong
    material         questions, and reports whose record holds their number
    children         real processes that can be killed at once
    kills            collectors killed while senders retry and hang up
    closers          closers killed while epochs are closed; two collectors on one store
    clients          clients killed in record, upload and start
    disk, clock      full disks; clocks and surveys that are wrong for one start
    recording        the writes and syncs of a process, by strace
    replaying        what a power cut may leave of them
    crash_points     every such image, opened by the real code and checked

`benchmarks/faults.py` runs the drivers at length, the tests beside this file in short.
"""
