"""An API of the kinds that language models are asked by, which also tells what it was sent."""
import json
import time
import urllib.parse

from http_request import Request

PIECES = ["Hel", "lo ", "you"]
PAUSE = 0.3  # between the pieces of an answer that is streamed


class ModelApi:
    """`keys` are the keys that it knows: of the Bearer kind, of the x-api-key kind, in a query, in a body."""

    def __init__(self, **keys):
        self.keys = keys
        self.refused = []

    def handler(self, connection, visit):
        _Request(connection, self, visit)


class _Request(Request):
    def _serve(self):
        self.visit.heads.append(f"{self.requestline}\r\n{self.headers}")
        path, _, query = self.path.partition("?")
        body = self.body()
        bearer, key = self.headers.get("Authorization", "").removeprefix("Bearer "), self.headers.get("X-Api-Key")
        if path == "/v1/chat/completions":
            self._if(bearer == self.owner.keys["bearer"], lambda: self._complete(json.loads(body)))
        elif path == "/v1/messages":
            self._if(self.owner.keys["api_key"] in (key, bearer), lambda: self._message(json.loads(body)))
        elif path == "/query":
            self._if(dict(urllib.parse.parse_qsl(query)).get("key") == self.owner.keys["query"], lambda: self._json({"ok": True}))
        elif path == "/body":
            self._if(json.loads(body).get("token") == self.owner.keys["body"], lambda: self._json({"ok": True}))
        elif path == "/echo":
            self._json({"you": bearer, "said": body.decode()}, {"X-You": bearer})
        elif path == "/ticks":
            self._if(bearer == self.owner.keys["bearer"], lambda: self._events([("", "tick")] * 200, 0.1))
        else:
            self._json({"error": "no such path"}, status=404)

    do_GET = do_POST = _serve

    def _if(self, allowed, then):
        if allowed:
            return then()
        self.owner.refused.append(self.path)
        self._json({"error": {"message": "wrong key", "type": "authentication_error"}}, status=401)

    def _json(self, answer, fields=(), status=200):
        self.answer(status, json.dumps(answer).encode(), {"Content-Type": "application/json", **dict(fields)})

    def _events(self, events, pause=PAUSE):
        """Server-sent events, each when its time has come."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for name, data in events:
            text = ((f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n").encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(text), text))
            self.wfile.flush()
            time.sleep(pause)
        self.wfile.write(b"0\r\n\r\n")

    def _complete(self, asked):
        made = {"id": "c1", "created": 1, "model": asked["model"]}
        if not asked.get("stream"):
            return self._json({**made, "object": "chat.completion", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "".join(PIECES)}}]})
        chunk = {**made, "object": "chat.completion.chunk"}
        self._events([("", {**chunk, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}) for piece in PIECES] +
                     [("", "[DONE]")])

    def _message(self, asked):
        made = {"id": "m1", "type": "message", "role": "assistant", "model": asked["model"], "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1}}
        if not asked.get("stream"):
            return self._json({**made, "stop_reason": "end_turn", "content": [{"type": "text", "text": "".join(PIECES)}]})
        begun = {**made, "stop_reason": None, "content": []}
        events = [{"type": "message_start", "message": begun}, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]
        events += [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in PIECES]
        events += [{"type": "content_block_stop", "index": 0},
                   {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 3}},
                   {"type": "message_stop"}]
        self._events([(event["type"], event) for event in events])
