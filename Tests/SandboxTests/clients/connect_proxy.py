"""A CONNECT proxy on loopback that leads hosts to ports of this machine, for clients whose host cannot be set."""

import socket
import socketserver
import threading


def pump(source, sink):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            sink.sendall(data)
    except OSError:
        pass
    finally:
        # The other direction may still have something to say.
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def start(ports, others):
    """Starts the proxy; answers its port and the list of the hosts that were asked for.

    `ports`: where each host is led; `others`: where all the rest is.
    """
    asked = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            head = b""
            while b"\r\n\r\n" not in head:
                data = self.request.recv(4096)
                if not data:
                    return
                head += data
            method, target = head.split(b" ", 2)[:2]
            if method != b"CONNECT":
                self.request.sendall(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")
                return
            host = target.decode().rsplit(":", 1)[0]
            asked.append(host)
            with socket.create_connection(("127.0.0.1", ports.get(host, others))) as server:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=pump, args=(server, self.request), daemon=True)
                back.start()
                pump(self.request, server)
                back.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1], asked
