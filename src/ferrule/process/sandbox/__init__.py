"""Commands of a task confined to its folders.

    keeper ── bwrap ── first process inside ── command ── its descendants        (bubblewrap, Landlock as second layer)
    keeper ── command ── its descendants                                         (Landlock alone)

`Sandboxed` stands around other processes and gives each command a wrapper: a command line that sets the sandbox up and ends in
the program `inside`. The keeper speaks with that program over the wrapper's standard error: it is handed the command, and it
tells how the command ended, so that a sandbox changes nothing about exit codes, signals, time-outs and what is left behind.

Bubblewrap makes namespaces: of users, in which no right is held; of processes, of which the keeper can end all by ending the
first; of mounts, in which only what is bound is there; of the network, which has a loopback of its own and nothing else. Landlock
then limits the same command once more, by rules that depend on no mount. It knows no rule for UDP or for Unix sockets that have
a path, which is why alone it is no isolation of the network.
"""
