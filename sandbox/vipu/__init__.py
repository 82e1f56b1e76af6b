"""A simulator of a V-IPU controller: its objects, rules, states, slowness, restarts and errors, and its commands.

It is no V-IPU and claims no wire compatibility: no `.proto` file and no REST mapping of the real one is public, so
commands and controller speak JSON over HTTP of our own. What stands for what, each rule with its source, and what is
assumed: docs/reference/vipu-simulator.md. Nothing here needs more than Python and `cryptography`.

    racks = rack_of(16)                                   # `racks`: IPU-Machines, their cables, what is broken
    write_racks(folder / "racks.json", racks)             # shared by the controllers of a site, changed behind them
    controller = opened(folder / "vpod", racks_file, clock=ManualClock())    # `controller`, without a server
    controller.answer(Call("create", "agent", "ag1", {"host": …}), access)   # Raises VipuRefused
    with Serving(controller, ServingSettings()).running() as serving:        # `serving`: user API and admin API
        serving.user, serving.admin                       # host and port of each
    main(["--config", "alice.vipu-cli.hcl", "list", "partitions"], "user")   # `shims`: the commands

`python -m sandbox.vipu server …` is `vipu-server`, `… user …` is `vipu`, `… admin …` is `vipu-admin`;
`python -m sandbox.vipu shims FOLDER` puts these three into a folder for PATH; `… machine`, `… occupy`, `… backup` and
`… restore` are the simulator's own. One process for each controller, with its state in one folder.
"""
