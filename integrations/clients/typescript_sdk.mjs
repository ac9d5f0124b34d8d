// A client on the TypeScript SDK (package @modelcontextprotocol/client, 2.x) that follows the actions of mcp-conform.
//
// mcp-conform client -- node integrations/clients/typescript_sdk.mjs
// mcp-conform client --transport stdio -- node integrations/clients/typescript_sdk.mjs

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Client, LOG_LEVEL_META_KEY, ProtocolError, SdkError, SdkErrorCode, SSEClientTransport, StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const env = (name) => process.env[`MCP_CONFORMANCE_${name}`];
const parsed = (name) => JSON.parse(env(name) ?? "null");

const ACTIONS = parsed("ACTIONS") ?? [];
const ANSWERS = parsed("ANSWERS") ?? {};
const REVISION = env("PROTOCOL_VERSION") ?? "2025-11-25";
const IS_MODERN = REVISION >= "2026-07-28";
const TIMEOUT = 10_000;
// Pages of one list or walk: more are not requested, however many there are.
const MOST = 1000;
const LISTS = {
  tools: ["tools/list", "tools"],
  resources: ["resources/list", "resources"],
  templates: ["resources/templates/list", "resourceTemplates"],
  prompts: ["prompts/list", "prompts"],
};

/** The capabilities to declare, such as `roots.listChanged`, as an object. */
function capabilities() {
  const declared = {};
  for (const path of ANSWERS.declare ?? ["sampling", "elicitation", "roots.listChanged"]) {
    const [name, ...members] = path.split(".");
    declared[name] ??= {};
    for (const member of members) {
      declared[name][member] = member === "listChanged" ? true : {};
    }
  }
  return declared;
}
const DECLARED = capabilities();

/** The response of the user, who takes a while. */
const user = (respond) => async (request) => {
  await sleep(ANSWERS.delay ?? 0);
  return respond(request);
};

/** A value that the schema of a field permits. */
function valueOf({ type, format, enum: values, minimum = 1, minLength = 0, items, ...schema }) {
  if ("default" in schema) return schema.default;
  if (values ?? schema.oneOf) return values?.[0] ?? schema.oneOf[0].const;
  if (type === "array") return [items.enum?.[0] ?? items.anyOf[0].const];
  if (type === "boolean") return true;
  if (type !== "string") return minimum;
  const formats = { email: "a@example.com", uri: "https://example.com/", date: "2026-01-31", "date-time": "2026-01-31T12:00:00Z" };
  return formats[format] ?? "text".padEnd(minLength, "s").slice(0, schema.maxLength);
}

function elicited({ params }) {
  const action = ANSWERS.elicitation ?? "accept";
  if (action === "decline" || action === "cancel") return { action };
  const fields = Object.entries(params.requestedSchema?.properties ?? {});
  return { action: "accept", content: Object.fromEntries(fields.map(([name, schema]) => [name, valueOf(schema)])) };
}

function sampled({ params }) {
  if ((params.tools ?? params.toolChoice) && !DECLARED.sampling.tools) throw new ProtocolError(-32602, "sampling.tools was not declared");
  if (ANSWERS.sampling === null) throw new ProtocolError(-1, "User rejected sampling request");
  const content = { type: "text", text: ANSWERS.sampling ?? "A response." };
  return { role: "assistant", content, model: "driver", stopReason: "endTurn" };
}

const client = new Client({ name: "typescript-sdk", version: "1" }, {
  capabilities: DECLARED,
  versionNegotiation: { mode: IS_MODERN ? { pin: REVISION } : "legacy" },
  supportedProtocolVersions: [REVISION],
  enforceStrictCapabilities: true,
});
const HANDLERS = {
  elicitation: ["elicitation/create", user(elicited)],
  sampling: ["sampling/createMessage", user(sampled)],
  roots: ["roots/list", () => ({ roots: (ANSWERS.roots ?? ["file:///tmp"]).map((uri) => ({ uri })) })],
};
for (const name of Object.keys(DECLARED).filter((name) => name in HANDLERS)) {
  client.setRequestHandler(...HANDLERS[name]);
}

// The SDK drops what its schemas do not have, such as the `capabilities` of a resource.
const AS_SENT = { "~standard": { version: 1, vendor: "driver", validate: (value) => ({ value }) } };

/** The pages of a list, until there is no cursor, or one that was sent before. */
async function* pagesOf(of, params, options) {
  const [method, field] = LISTS[of];
  const cursors = new Set();
  for (let cursor; !cursors.has(cursor); ) {
    cursors.add(cursor);
    const result = await client.request({ method, params: { ...params, cursor } }, AS_SENT, options);
    yield result[field];
    cursor = result.nextCursor;
    if (cursor === undefined) return;
  }
}

async function list({ of, pages = "all", uri, prefix }, meta, options) {
  if (pages === "all" && (uri ?? prefix) === undefined) {
    // The SDK requests all pages.
    const all = { tools: "listTools", resources: "listResources", templates: "listResourceTemplates", prompts: "listPrompts" };
    return (await client[all[of]](meta._meta && meta, options))[LISTS[of][1]];
  }
  const items = [];
  let count = 0;
  for await (const page of pagesOf(of, { uri, prefix, ...meta }, options)) {
    items.push(...page);
    count += 1;
    if (count === (pages === "all" ? MOST : pages)) break;
  }
  return items;
}

/** All resources, and the children of each that can be listed: a page of each in turn, as one may have no end. */
async function walk(options) {
  const found = new Map();
  const open = [pagesOf("resources", {}, options)];
  for (let pages = 0; open.length > 0 && pages < MOST; pages += 1) {
    const list = open.shift();
    // A resource that cannot be listed does not end the walk.
    const page = await list.next().catch(() => ({ done: true }));
    if (page.done) continue;
    open.push(list);
    for (const resource of page.value) {
      if (found.has(resource.uri)) continue;
      found.set(resource.uri, resource);
      if (resource.capabilities?.list) open.push(pagesOf("resources", { uri: resource.uri }, options));
    }
  }
  return [...found.values()];
}

/** What may be cancelled, by the number of its action. */
const running = new Map();

async function perform(action, number) {
  const stop = new AbortController();
  running.set(String(number), stop);
  const options = { timeout: action.timeout ?? TIMEOUT, signal: stop.signal, ...(action.progress ? { onprogress() {} } : {}) };
  const meta = action.logLevel === undefined ? {} : { _meta: { [LOG_LEVEL_META_KEY]: action.logLevel } };
  const { do: what, name, uri } = action;
  switch (what) {
    case "list": return list(action, meta, options);
    case "walk": return walk(options);
    case "call": return client.callTool({ name, arguments: action.arguments, ...meta }, options);
    case "get": return client.getPrompt({ name, arguments: action.arguments, ...meta }, options);
    case "read": return client.readResource({ uri, ...meta }, options);
    case "complete": {
      const { ref, argument, context } = action;
      return client.complete({ ref, argument, context, ...meta }, options);
    }
    case "subscribe": return client.subscribeResource({ uri }, options);
    case "unsubscribe": return client.unsubscribeResource({ uri }, options);
    case "setLevel": return client.setLoggingLevel(action.level, options);
    case "ping": return client.ping(options);
    case "discover": return client.discover(options);
    case "listen": return client.listen(action.notifications, options).then(() => ({}));
    case "roots":
      ANSWERS.roots = action.uris;
      return client.sendRootsListChanged();
    case "cancel": return running.get(String(action.action))?.abort("The result is not needed any more");
    case "wait": return sleep(action.ms);
    case "parallel": return Promise.all(action.actions.map((one, at) => carryOut(one, `${number}.${at}`))).then(() => ({}));
    default: throw Object.assign(new Error(`unknown action ${what}`), { kind: "unsupported" });
  }
}

function kindOf(error, number) {
  if (error.kind) return error.kind;
  if (running.get(String(number))?.signal.aborted) return "cancelled";
  if (error instanceof ProtocolError) return "error";
  if (!(error instanceof SdkError)) return "invalid";
  switch (error.code) {
    case SdkErrorCode.RequestTimeout: return "timeout";
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected: return "closed";
    case SdkErrorCode.MethodNotSupportedByProtocolVersion:
    case SdkErrorCode.CapabilityNotSupported: return "unsupported";
    default: return "invalid";
  }
}

async function carryOut(action, number) {
  const report = (fields) => {
    if (env("REPORT")) appendFileSync(env("REPORT"), `${JSON.stringify({ action: number, ...fields })}\n`);
  };
  try {
    report({ ok: true, result: (await perform(action, number)) ?? {} });
  } catch (error) {
    report({ ok: false, kind: kindOf(error, number), message: String(error?.message ?? error) });
  }
}

const target = process.argv.at(-1);
const transports = {
  stdio: () => new StdioClientTransport({ command: target }),
  sse: () => new SSEClientTransport(new URL(target)),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
};
const transport = transports[env("TRANSPORT") ?? "http"]();
await client.connect(transport, { timeout: TIMEOUT });
const background = [];
for (const [number, action] of ACTIONS.entries()) {
  if (action.do === "connect" || action.do === "close") continue;
  const done = carryOut(action, number);
  if (action.background) {
    background.push(done);
    await sleep(50);
  } else {
    await done;
  }
}
await Promise.all(background);
await transport.terminateSession?.();
await client.close();
