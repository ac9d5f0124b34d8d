"""The transport of plain.py over stdio."""

import json
import subprocess
import threading


class Stdio:
    is_stdio = True

    def __init__(self, client, program):
        self.client, self.program = client, program
        self.lock = threading.Lock()
        self.start()

    def start(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([self.program], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        threading.Thread(target=self.read, daemon=True).start()

    def has_exited(self):
        return self.process.poll() is not None

    def can_call(self, tool):
        return True

    def initialized(self):
        pass

    def listen(self):
        pass

    def abandon(self, identifier):
        pass

    def encoded(self, message):
        return (json.dumps(message, ensure_ascii=False) + "\n").encode()

    def send(self, message):
        with self.lock:
            try:
                self.process.stdin.write(self.encoded(message))
                self.process.stdin.flush()
            except (OSError, ValueError):
                pass

    def read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            self.client.arrived(message)
        self.process.wait()
        for waiting in list(self.client.open.values()):
            waiting.end(None)

    def close(self):
        with self.lock:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
