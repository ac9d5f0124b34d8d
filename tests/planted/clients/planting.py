"""What the bugs of plain.py are made of. Each is a client that differs from it in one thing; bugs.yaml has the rule that finds it."""

import copy

from plain import Client

BUGS = {}


def bug(name):
    def add(made):
        BUGS[name] = made
        return made

    return add


def sent(name, method=None):
    """A bug that changes what is sent: all messages, or those of a method."""

    def add(change):
        class Changed(Client):
            def outgoing(self, message):
                if method is not None and message.get("method") != method:
                    return message
                message = copy.deepcopy(message)
                changed = change(self, message)
                return None if changed is False else changed or message

        BUGS[name] = Changed
        return change

    return add


def received(name):
    """A bug that changes what arrives before the client sees it."""

    def add(change):
        class Changed(Client):
            def incoming(self, message):
                if isinstance(message, dict):
                    change(self, message)
                return message

        BUGS[name] = Changed
        return change

    return add


def replaced(name, **fields):
    BUGS[name] = type("Changed", (Client,), fields)


def on_transport(name, **methods):
    """A bug of the transport: methods that take the place of those it has, which they get as their first argument."""

    class Changed(Client):
        def __init__(self, target):
            super().__init__(target)
            transport = self.transport
            for method, change in methods.items():
                if hasattr(transport, method):
                    usual = getattr(transport, method)
                    setattr(transport, method, lambda *given, change=change, usual=usual, **more: change(usual, *given, **more))

    BUGS[name] = Changed


def header(name, which, change):
    """A bug of a header; None removes it."""

    class Changed(Client):
        def headers(self, message, headers):
            value = change(headers.get(which), message, self)
            headers = {key: one for key, one in headers.items() if key != which}
            return headers if value is None else {**headers, which: value}

    BUGS[name] = Changed


