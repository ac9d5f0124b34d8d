// A shelf of files on the low-level server of the TypeScript SDK 1.x, which commits the fault that FAULT names.
// Usage: node shelf-1.mjs [PORT], over stdio without one.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";
import { files, locate, planted, PICTURE, TOOLS } from "./shelf.mjs";

const LEVELS = types.LoggingLevelSchema.options;
const invalid = (message, data) => new types.McpError(types.ErrorCode.InvalidParams, message, data);
const text = (value) => ({ type: "text", text: value });
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const started = Date.now();

function describe(uri, file) {
  const lastModified = planted("changed-just-now") ? new Date().toISOString() : new Date(file.changed ?? started).toISOString();
  return {
    uri,
    name: uri.split("/").pop(),
    mimeType: file.mimeType,
    annotations: {
      audience: [planted("audience-in-capitals") && file.bytes ? "User" : "user"],
      priority: planted("priority-in-percent") && uri.endsWith("seal.png") ? 80 : 0.8,
      lastModified: planted("time-of-the-clock") && uri.endsWith("plan.json") ? started : lastModified,
    },
  };
}

function list({ params }) {
  const uris = [...files.keys()];
  const start = params?.cursor === undefined ? 0 : uris.indexOf(params.cursor);
  if (start < 0) throw invalid("Unknown cursor");
  const from = planted("always-the-first-page") && start > 0 ? 0 : start;
  return { resources: uris.slice(from, from + 3).map((uri) => describe(uri, files.get(uri))), nextCursor: uris[start + 3] };
}

function encoded(bytes) {
  return planted("bytes-by-way-of-text") ? Buffer.from(bytes.toString("utf8")).toString("base64") : bytes.toString("base64");
}

function read({ params: { uri } }) {
  if (uri === "shelf://all") {
    const [first, second] = [...files].slice(0, 2).map(([uri, { text }]) => ({ uri, mimeType: "text/plain", text }));
    return { contents: [first, planted("second-without-uri") ? { ...second, uri: undefined } : second] };
  }
  const found = locate(uri);
  if (!found) throw new types.McpError(-32002, "Resource not found", { uri });
  const { mimeType, text, bytes } = found;
  if (bytes && planted("picture-as-text") && mimeType === "image/png") return { contents: [{ uri, mimeType, text: bytes.toString("latin1") }] };
  const both = planted("text-and-blob") && mimeType === "application/json";
  const payload = bytes ? { blob: encoded(bytes) } : both ? { text, blob: Buffer.from(text).toString("base64") } : { text };
  return { contents: [{ uri, mimeType, ...payload }] };
}

function templates() {
  const uriTemplate = planted("brace-left-open") ? "shelf://files/{name" : "shelf://files/{name}";
  return { resourceTemplates: [{ uriTemplate, name: "file" }] };
}

async function ask(extra, method, params, schema) {
  return extra.sendRequest({ method, params }, schema);
}

async function judge(server, extra) {
  if (!server.getClientCapabilities()?.sampling) return { content: [text("Nobody to ask")], isError: true };
  const maxTokens = planted("tokens-as-text") ? "200" : 200;
  const hints = { costPriority: planted("priorities-in-percent") ? 30 : 0.3 };
  const messages = [{ role: "user", content: text("Is the shelf tidy?") }];
  const { content } = await ask(extra, "sampling/createMessage", { messages, maxTokens, modelPreferences: hints }, types.CreateMessageResultSchema);
  return { content: [text(content?.text ?? "no answer")] };
}

async function sort(server, extra, token, store, taskId) {
  for (let step = 1; step <= 6; step++) {
    await wait(300);
    if (extra.signal.aborted && !planted("work-goes-on") && !taskId) return;
    const task = taskId && (await store.getTask(taskId));
    if (task?.status === "cancelled") return;
    await server.log(LEVELS[step], `step ${step}`, extra);
    const progress = { progressToken: token, progress: step, total: 6 };
    if (token !== undefined) await extra.sendNotification({ method: "notifications/progress", params: progress, ...related(taskId, progress) });
  }
  return { content: [text("sorted")] };
}

// A notification about a task names it.
const related = (taskId, params) => (taskId ? { params: { ...params, _meta: { [types.RELATED_TASK_META_KEY]: { taskId } } } } : {});

async function asTask(server, params, extra) {
  const task = await extra.taskStore.createTask({ ttl: planted("kept-for-ever") ? null : Math.min(params.task.ttl ?? 60_000, 60_000) });
  const done = sort(server, extra, params._meta?.progressToken, extra.taskStore, task.taskId);
  done.then((result) => result && extra.taskStore.storeTaskResult(task.taskId, "completed", result)).catch(() => {});
  return { task };
}

async function call(server, { params }, extra) {
  const { name, arguments: given = {} } = params;
  const tool = TOOLS.find((tool) => tool.name === name);
  if (!tool) {
    if (planted("unknown-tool-in-result")) return { content: [text(`Unknown tool: ${name}`)], isError: true };
    throw invalid(`Unknown tool: ${name}`);
  }
  if (params.task && name !== "sort" && !planted("any-tool-as-task")) throw new types.McpError(types.ErrorCode.MethodNotFound, "No task of this");
  if (params.task) return asTask(server, params, extra);
  if (name === "find" && typeof given.name !== "string" && !planted("find-anything")) return { content: [text("`name` has to be a string")], isError: true };
  if (name === "find") return { content: [text([...files.keys()].filter((uri) => uri.includes(given.name)).join("\n"))] };
  if (name === "touch") {
    const file = files.get(`shelf://files/${given.name}`);
    if (!file?.text) return { content: [text("no such file")], isError: true };
    Object.assign(file, { text: `${file.text}More.\n`, changed: Date.now() });
    return { content: [text("touched")] };
  }
  if (name === "sort") return sort(server, extra, params._meta?.progressToken);
  if (name === "judge") return judge(server, extra);
  if (name === "lost") {
    if (planted("failure-as-error")) throw new types.McpError(types.ErrorCode.InternalError, "The file is lost");
    return { content: [text(planted("failure-without-words") ? "" : "The file is lost")], isError: true };
  }
  if (name === "picture") {
    return { content: [{ type: "image", data: PICTURE.toString("base64"), mimeType: "image/png" }] };
  }
  const uri = [...files.keys()][0];
  return { content: [{ type: "resource_link", uri, name: "first", annotations: { priority: 1 } }] };
}

function prompts() {
  const name = { name: "name", required: true };
  const list = [{ name: "explain", arguments: [name] }, { name: "tidy" }, { name: planted("same-name-twice") ? "tidy" : "dust" }];
  return { prompts: list };
}

function prompt({ params }) {
  if (!["explain", "tidy", "dust"].includes(params.name)) throw invalid("Unknown prompt");
  if (params.name !== "explain") return { messages: [{ role: "user", content: text("Make it tidy.") }] };
  if (typeof params.arguments?.name !== "string") throw invalid("`name` is missing");
  return { messages: [{ role: "user", content: text(`Explain ${params.arguments.name}.`) }] };
}

// Faults of what goes out behind the SDK, which looks at results itself.
function outgoing(message) {
  const [block] = message.result?.content ?? [];
  if (message.result?.task && planted("begins-as-submitted")) message.result.task.status = "submitted";
  if (block?.type === "image" && planted("picture-as-data-url")) block.data = `data:image/png;base64,${block.data}`;
  if (block?.type === "resource_link" && planted("link-without-name")) delete block.name;
  if (block?.type === "resource_link" && planted("priority-of-links")) block.annotations.priority = 7;
  return message;
}

class Store extends InMemoryTaskStore {
  count = 1000;
  async createTask(...of) {
    // A time that ends in zero might be one of hundredths of a second, and shows less.
    while (Date.now() % 10 === 0) await wait(1);
    return super.createTask(...of);
  }
  generateTaskId() {
    return planted("tasks-by-number") ? String(this.count++) : super.generateTaskId();
  }
  async updateTaskStatus(taskId, status, ...more) {
    await super.updateTaskStatus(taskId, planted("cancelled-as-failed") && status === "cancelled" ? "failed" : status, ...more);
  }
  async storeTaskResult(taskId, status, result, session) {
    await super.storeTaskResult(taskId, status, result, session);
    const { task } = this.tasks.get(taskId);
    if (planted("time-stands-still")) task.lastUpdatedAt = task.createdAt;
    if (planted("done-of-old")) setTimeout(() => (task.status = "working"), 200);
  }
  async getTask(...of) {
    const task = await super.getTask(...of);
    if (task && planted("begins-anew-at-each-look")) task.createdAt = new Date().toISOString();
    return task;
  }
}
const store = new Store();

function shelf() {
  const tasks = { cancel: {}, requests: { tools: { call: {} } } };
  const capabilities = { resources: {}, tools: {}, prompts: {}, logging: {}, completions: {}, tasks };
  const taskMessageQueue = new InMemoryTaskMessageQueue();
  const server = new Server({ name: "shelf", version: "1.0.0" }, { capabilities, taskStore: store, taskMessageQueue });
  let least = 0;
  server.log = (level, data, extra) =>
    LEVELS.indexOf(level) >= least ? extra.sendNotification({ method: "notifications/message", params: { level, logger: "shelf", data } }) : undefined;
  server.setRequestHandler(types.SetLevelRequestSchema, ({ params }) => {
    least = LEVELS.indexOf(params.level) + (planted("level-not-included") ? 1 : 0);
    return {};
  });
  server.setRequestHandler(types.ListResourcesRequestSchema, list);
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, templates);
  server.setRequestHandler(types.ReadResourceRequestSchema, read);
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(types.CallToolRequestSchema, (request, extra) => call(server, request, extra));
  server.setRequestHandler(types.ListPromptsRequestSchema, prompts);
  server.setRequestHandler(types.GetPromptRequestSchema, prompt);
  server.setRequestHandler(types.CompleteRequestSchema, ({ params: { ref, argument } }) => {
    const known = ref.type === "ref/prompt" ? ["explain", "tidy", "dust"].includes(ref.name) : ref.uri === "shelf://files/{name}";
    if (!known && !planted("completes-anything")) throw invalid("Nothing of that name");
    const values = [...files.keys()].map((uri) => uri.split("/").pop()).filter((name) => name.startsWith(argument.value));
    return { completion: { values, total: values.length, hasMore: planted("always-more") } };
  });
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(outgoing(message), options);
    return connect(transport);
  };
  if (planted("ping-with-time")) server.setRequestHandler(types.PingRequestSchema, () => ({ time: Date.now() }));
  if (planted("cancels-by-text")) {
    const cancel = server._oncancel.bind(server);
    server._oncancel = async (notification) => {
      const id = [...server._requestHandlerAbortControllers.keys()].find((id) => String(id) === String(notification.params.requestId));
      await cancel({ ...notification, params: { ...notification.params, requestId: id } });
    };
  }
  if (planted("roots-at-once")) {
    const initialize = server._oninitialize.bind(server);
    server._oninitialize = async (request) => {
      setTimeout(() => server.transport?.send({ jsonrpc: "2.0", id: "roots", method: "roots/list" }), 0);
      return initialize(request);
    };
  }
  return server;
}

// Faults of the HTTP transport.
function patchHttp() {
  const transport = WebStandardStreamableHTTPServerTransport.prototype;
  const write = transport.writeSSEEvent;
  transport.writeSSEEvent = function (controller, encoder, message, id) {
    if (!planted("event-by-kind")) return write.call(this, controller, encoder, message, id);
    const named = { encode: (event) => encoder.encode(message.method ? event.replace("event: message", "event: notification") : event) };
    return write.call(this, controller, named, message, id);
  };
  if (planted("origin-of-posts-only")) {
    const validate = transport.validateRequestHeaders;
    transport.validateRequestHeaders = function (request) {
      return request.method === "POST" ? validate.call(this, request) : undefined;
    };
  }
  if (planted("any-version-header")) transport.validateProtocolVersion = () => undefined;
  if (planted("get-as-json")) transport.handleGetRequest = () => new Response("{}", { headers: { "Content-Type": "application/json" } });
  if (planted("delete-fails")) transport.handleDeleteRequest = () => new Response("no such thing", { status: 500 });
  if (planted("no-session-as-404")) {
    const validate = transport.validateSession;
    transport.validateSession = function (request) {
      const refusal = validate.call(this, request);
      return refusal?.status === 400 ? new Response(refusal.body, { status: 404 }) : refusal;
    };
  }
  if (planted("stream-left-open")) {
    const send = transport.send;
    transport.send = async function (message, options) {
      const stream = this._streamMapping.get(this._requestToStreamMapping.get(message.id));
      if (stream && message.result?.tools) stream.cleanup = () => {};
      return send.call(this, message, options);
    };
  }
}

// Events of all sessions, to be sent again.
class Events {
  events = [];
  async storeEvent(stream, message) {
    const number = planted("numbers-by-stream") ? this.events.filter((event) => event.stream === stream).length : this.events.length;
    const id = planted("numbers-by-stream") ? `event-${number}` : `${stream}-${number}`;
    this.events.push({ id, stream, message });
    return id;
  }
  async replayEventsAfter(last, { send }) {
    const at = this.events.findIndex((event) => event.id === last);
    const { stream } = this.events[at] ?? {};
    const again = this.events.slice(planted("last-event-again") ? at : at + 1);
    for (const event of again) {
      if (Object.keys(event.message).length && (event.stream === stream || planted("replays-every-stream"))) await send(event.id, event.message);
    }
    return stream;
  }
}

function overHttp(port) {
  patchHttp();
  const sessions = new Map();
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const safe = { enableDnsRebindingProtection: true, allowedHosts: hosts, allowedOrigins: hosts.map((host) => `http://${host}`) };
  createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let transport = sessions.get(id);
    if (!transport && !id) {
      const begun = (id) => sessions.set(id, transport);
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: begun, eventStore: new Events(), ...safe });
      transport.onclose = () => sessions.delete(transport.sessionId);
      await shelf().connect(transport);
    }
    if (transport) await transport.handleRequest(request, response);
    else response.writeHead(404).end();
  }).listen(port, "127.0.0.1");
}

const port = Number(process.argv[2]);
if (port) overHttp(port);
else {
  process.stdin.on("end", () => process.exit());
  await shelf().connect(new StdioServerTransport());
}
