// A shelf of files as the TypeScript SDK 2.x has servers in its introduction, which commits the fault that FAULT names.
// Usage: node shelf-2.mjs [PORT], over stdio without one.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  InMemoryServerEventBus, McpServer, MissingRequiredClientCapabilityError, ProtocolError, ResourceNotFoundError, ResourceTemplate,
  createMcpHandler, createRequestStateCodec, inputRequired, originValidationResponse,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { files, PICTURE, planted } from "./shelf.mjs";

const text = (value) => ({ type: "text", text: value });
const only = (block) => ({ content: [block] });
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const nothing = z.object({}).strict();
const reads = { readOnlyHint: true };
const cache = { ttlMs: 60_000, cacheScope: "public" };
const bus = new InMemoryServerEventBus();
const codec = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: 600 });
const opened = new Set();
let asked = 0;

function addResources(server) {
  for (const [uri, file] of files) {
    const { mimeType, bytes } = file;
    const payload = () => (bytes ? { blob: bytes.toString("base64") } : { text: file.text });
    const icons = [{ src: planted("icon-from-a-file") && bytes ? "file:///icons/picture.png" : "https://example.com/file.png", mimeType: "image/png" }];
    const about = { mimeType, icons, _meta: planted("reserved-key") && bytes ? { "io.modelcontextprotocol/shelf": 1 } : { shelf: 1 } };
    server.registerResource(uri, uri, about, async () => ({ contents: [{ uri, mimeType, ...payload() }] }));
  }
  const names = () => [...files.keys()].map((uri) => uri.split("/").pop());
  const template = new ResourceTemplate("shelf://boxes/{name}", { list: undefined, complete: { name: (value) => names().filter((name) => name.startsWith(value)) } });
  server.registerResource("box", template, { mimeType: "text/plain" }, async (uri, { name }) => {
    if (!names().includes(name)) {
      if (planted("empty-box")) return { contents: [] };
      throw new ResourceNotFoundError(uri.href);
    }
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text: `A box with ${name}` }] };
  });
}

async function ask(server, ctx) {
  const { inputResponses, requestState } = ctx.mcpReq;
  const answer = inputResponses?.why;
  if (!answer) {
    const form = { message: "Why?", requestedSchema: { type: "object", properties: { reason: { type: "string" } }, required: ["reason"] } };
    if (planted("default-of-another-type")) form.requestedSchema.properties.reason.default = 7;
    if (planted("format-of-its-own")) form.requestedSchema.properties.reason.format = "sentence";
    return inputRequired({ inputRequests: { why: inputRequired.elicit(form) }, requestState: await codec.mint({ tool: "ask" }, ctx) });
  }
  if (typeof answer.content?.reason !== "string" && !planted("declined-as-given")) return { ...only(text("no reason was given")), isError: true };
  return only(text("thanks"));
}

// Over HTTP each request has a server of its own; over stdio the one there is tells of it.
async function changed(server, uri) {
  if (process.argv[2]) bus.publish({ kind: "resource_updated", uri });
  else if (server.isModern || server.subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
}

function addTools(server) {
  const count = { files: z.number().int() };
  server.registerTool("count", { inputSchema: nothing, outputSchema: z.object(count), annotations: reads }, async () => {
    const structuredContent = { files: files.size };
    return { content: [text(planted("structured-alone") ? "counted" : JSON.stringify(structuredContent))], structuredContent };
  });
  server.registerTool("seal", { inputSchema: nothing, annotations: reads }, async () => {
    const mimeType = planted("picture-without-subtype") ? "png" : "image/png";
    return only({ type: "image", data: PICTURE.toString("base64"), mimeType });
  });
  server.registerTool("sort", { inputSchema: nothing, annotations: reads }, async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; step <= 5; step++) {
      await wait(300);
      if (ctx.mcpReq.signal.aborted) return only(text("stopped"));
      await ctx.mcpReq.log(["debug", "info", "notice", "warning", "error"][step - 1], `step ${step}`, "shelf");
      const token = planted("token-as-text") ? String(progressToken) : progressToken;
      const params = { progressToken: token, progress: planted("same-progress-twice") && step === 3 ? 2 : step, total: 5 };
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params });
    }
    return only(text("sorted"));
  });
  server.registerTool("change", { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    const file = files.get(uri);
    if (!file) return { ...only(text("nothing of that name")), isError: true };
    file.text += "More.\n";
    await changed(server, planted("update-of-the-parent") ? uri.replace(/\/[^/]*$/, "") : uri);
    return only(text("changed"));
  });
  const floor = z.object({ floor: z.number().int().meta({ "x-mcp-header": "Floor" }), region: z.string().meta({ "x-mcp-header": planted("header-twice") ? "floor" : "Region" }).optional() });
  server.registerTool("room", { inputSchema: floor, annotations: reads }, async ({ floor }) => only(text(`room on floor ${floor}`)));
  server.registerTool("ask", { inputSchema: nothing, annotations: reads }, async (_, ctx) => ask(server, ctx));
  server.registerTool("wrong", { inputSchema: nothing, annotations: reads }, async () => {
    return { ...only(text("The shelf has fallen")), isError: true };
  });
}

function addPrompts(server) {
  const place = { description: "Explains", argsSchema: z.object({ name: z.string() }) };
  server.registerPrompt("explain", place, ({ name }) => ({ messages: [{ role: "user", content: text(`Explain ${name}.`) }] }));
  server.registerPrompt("show", { description: "Shows the plan" }, () => {
    const resource = { uri: "shelf://files/plan.json", mimeType: "application/json", text: "{}" };
    if (planted("embedded-without-contents")) delete resource.text;
    return { messages: [{ role: "user", content: { type: "resource", resource } }] };
  });
}

// Faults of what goes out, as they come of a serializer or of something between.
function outgoing(message) {
  const { result } = message;
  if (planted("failure-with-reserved-code") && result?.content?.[0].text === "The shelf has fallen") {
    return { jsonrpc: "2.0", id: message.id, error: { code: -32030, message: "The shelf has fallen" } };
  }
  if (!result) return message;
  if (planted("role-of-system") && result.messages?.[0].content.type === "resource") result.messages[0].role = "system";
  if (planted("time-left-in-seconds") && result.tools && "ttlMs" in result) result.ttlMs = 0.5;
  if (planted("shared-scope") && result.prompts && "cacheScope" in result) result.cacheScope = "shared";
  if (planted("reads-without-hints") && result.contents) delete result.ttlMs;
  if (planted("null-for-no-cursor") && "resources" in result) result.nextCursor = null;
  if (planted("total-as-text") && result.completion) result.completion.total = String(result.completion.values.length);
  if (planted("structured-null") && result.structuredContent) result.structuredContent = { files: null };
  if (planted("server-without-name") && result._meta && result.prompts) result._meta = {};
  if (planted("state-as-object") && result.requestState) result.requestState = { sealed: result.requestState };
  if (planted("input-as-list") && result.inputRequests) result.inputRequests = Object.values(result.inputRequests);
  return message;
}

// Faults of what the server takes for granted about who asks.
function patchHandlers(server) {
  const handlers = server.server._requestHandlers;
  const wrap = (method, make) => handlers.set(method, make(handlers.get(method)));
  wrap("tools/list", (list) => async (request, ctx) => {
    const result = await list(request, ctx);
    const client = ctx.mcpReq.envelope?.["io.modelcontextprotocol/clientInfo"];
    if (planted("tools-by-name-of-client") && client?.name !== "mcp-conform") result.tools = result.tools.slice(1);
    if (planted("fewer-tools-once-asked") && asked++ > 3) result.tools = result.tools.slice(1);
    return result;
  });
  wrap("resources/read", (read) => async (request, ctx) => {
    if (planted("listed-before-read") && !opened.size) throw new ProtocolError(-32600, "List the resources first");
    return read(request, ctx);
  });
  wrap("resources/list", (list) => async (request, ctx) => {
    opened.add("list");
    return list(request, ctx);
  });
}

function shelf({ era }) {
  const capabilities = { logging: {}, resources: { subscribe: true } };
  const hints = Object.fromEntries(["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"].map((method) => [method, cache]));
  const server = new McpServer({ name: "shelf", version: "2.0.0" }, { capabilities, cacheHints: hints, requestState: { verify: codec.verify } });
  server.isModern = era === "modern";
  server.subscribed = new Set();
  server.server.setRequestHandler("resources/subscribe", ({ params }) => void server.subscribed.add(params.uri) ?? {});
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => void server.subscribed.delete(params.uri) ?? {});
  addResources(server);
  addTools(server);
  addPrompts(server);
  patchHandlers(server);
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(outgoing(message), options);
    return connect(transport);
  };
  return server;
}

// Faults of what stands before the handler: a proxy, or the code that takes requests.
async function behind(request, response, handler, hosts) {
  const origin = request.headers.origin;
  const foreign = origin && !hosts.some((host) => origin === `http://${host}`);
  if (foreign && !(planted("origin-null-let-in") && origin === "null")) {
    return response.writeHead(planted("origin-as-400") ? 400 : 403).end();
  }
  if (planted("header-of-version-optional") && !request.headers["mcp-protocol-version"]) {
    request.headers["mcp-protocol-version"] = "2026-07-28";
    request.rawHeaders.push("MCP-Protocol-Version", "2026-07-28");
  }
  if (planted("answers-as-text")) {
    const write = response.writeHead.bind(response);
    response.writeHead = (status, ...more) => {
      const headers = more.at(-1);
      if (headers?.["content-type"]?.startsWith("application/json")) headers["content-type"] = "text/plain";
      return write(status, ...more);
    };
  }
  if (planted("buffered-stream")) {
    const write = response.writeHead.bind(response);
    response.writeHead = (status, headers) => {
      for (const name of Object.keys(headers ?? {})) if (name.toLowerCase() === "x-accel-buffering") delete headers[name];
      return write(status, headers);
    };
  }
  return handler(request, response);
}

const port = process.argv[2];
if (port) {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const handler = toNodeHandler(createMcpHandler(shelf, { bus }));
  createServer((request, response) => behind(request, response, handler, hosts)).listen(Number(port), "127.0.0.1");
} else {
  process.stdin.on("end", () => process.exit());
  serveStdio(shelf);
}
