// Bugs of clients that use fetch, planted from outside, so that the client itself is unmodified:
//
// BUG=name node --import ./bugs.mjs client.mjs ...
//
// A bug changes messages and headers on their way out, messages on their way in, or the text of the driver when it is loaded.

import { register } from "node:module";

// Lines of the driver that several bugs replace.
const VISITED = "if (found.has(resource.uri)) continue;";
const READ = 'case "read": return client.readResource({ uri, ...meta }, options);';
const LISTED = "if (resource.capabilities?.list)";
const FOUND = "return [...found.values()];\n}\n\n/** What may";
const SCOPE = "{ uri: resource.uri }, options";

const walkBugs = {
  "walk-by-name": [VISITED, "if ([...found.values()].some(({ name }) => name === resource.name)) continue;"],
  "walk-by-decoded-uri": [
    VISITED,
    "if ([...found.keys()].some((uri) => decodeURIComponent(uri) === decodeURIComponent(resource.uri))) continue;",
  ],
  "walk-by-uri-without-query": [
    VISITED,
    "if ([...found.keys()].some((uri) => uri.split('?')[0] === resource.uri.split('?')[0])) continue;",
  ],
  "walk-by-uri-without-case": [
    VISITED,
    "if ([...found.keys()].some((uri) => uri.toLowerCase() === resource.uri.toLowerCase())) continue;",
  ],
  "walk-without-memory": [VISITED, ""],
  "walk-depth-first": ["open.push(list);", "open.unshift(list);", "if (resource.capabilities?.list) open.push(", "if (resource.capabilities?.list) open.unshift("],
  "walk-without-limit": ["open.length > 0 && pages < MOST", "open.length > 0"],
  "walk-ends-at-error": [".catch(() => ({ done: true }))", ".catch(() => { open.length = 0; return { done: true }; })"],
  "walk-fails-at-error": [".catch(() => ({ done: true }))", ""],
  "walk-fails-at-repetition": [VISITED, "if (found.has(resource.uri)) throw new Error('a cycle');"],
  "walk-ends-at-empty-directory": ["for (const resource of page.value) {", "if (page.value.length === 0) break;\n    for (const resource of page.value) {"],
  "walk-reads-first-pages": ["open.push(list);", ""],
  "walk-leaves-at-empty-page": ["open.push(list);", "if (page.value.length > 0) open.push(list);"],
  "walk-lists-everything": [LISTED, "if (true)"],
  "walk-lists-any-capabilities": [LISTED, "if (resource.capabilities)"],
  "walk-lists-by-slash": [LISTED, "if (resource.capabilities?.list || resource.uri.endsWith('/'))"],
  "walk-lists-by-type": [LISTED, "if (resource.capabilities?.list || resource.mimeType === 'inode/directory')"],
  "walk-drops-without-capabilities": [FOUND, "return [...found.values()].filter((one) => one.capabilities);\n}\n\n/** What may"],
  "walk-drops-unknown-capabilities": [
    FOUND,
    "return [...found.values()].filter((one) => Object.keys(one.capabilities ?? {}).every((key) => ['list', 'subscribe'].includes(key)));\n}\n\n/** What may",
  ],
  "walk-joins-paths": [SCOPE, "{ uri: resource.uri.replace(/\\/?$/, '/') }, options"],
  "walk-normalizes": [SCOPE, "{ uri: new URL(resource.uri).href }, options"],
  "walk-decodes": [SCOPE, "{ uri: decodeURIComponent(resource.uri) }, options"],
  "children-by-read": [
    "const items = [];\n  let count = 0;",
    "if (uri) return (await client.readResource({ uri }, options)).contents.map(({ uri }) => ({ uri, name: uri }));\n  const items = [];\n  let count = 0;",
  ],
  "list-keeps-cursor-for-next": [
    "for (let cursor; !cursors.has(cursor); ) {",
    "for (let cursor = globalThis.latest; !cursors.has(cursor); ) {",
    "cursor = result.nextCursor;",
    "cursor = result.nextCursor;\n    if (params.uri) globalThis.latest = cursor ?? globalThis.latest;",
  ],
  "read-needs-listed-type": [
    READ,
    `case "read": {
      const result = await client.readResource({ uri, ...meta }, options);
      const listed = (await client.listResources()).resources.find((one) => one.uri === uri);
      if (listed?.mimeType && result.contents[0]?.mimeType !== listed.mimeType) throw new Error("another type");
      return result;
    }`,
  ],
  "read-needs-list": [
    READ,
    `case "read": {
      if (!(await client.listResources()).resources.some((one) => one.uri === uri)) throw new Error("not listed");
      return client.readResource({ uri, ...meta }, options);
    }`,
  ],
  "cancel-does-nothing": ['?.abort("The result is not needed any more")', ""],
};

const isRequest = (message) => message.method !== undefined && message.id !== undefined;
const isResponse = (message) => message.method === undefined;
const named = (method, change) => ({ sent: (message, headers) => (message.method === method ? change(message, headers) : undefined) });
const scoped = (change) => named("resources/list", ({ params }) => {
  if (params?.uri !== undefined) change(params);
});
const cursors = (change) => ({
  sent({ params }) {
    if (typeof params?.cursor === "string") params.cursor = change(params.cursor);
  },
});
const contents = (change) => ({
  received({ result }) {
    if (Array.isArray(result?.contents)) result.contents = change(result.contents);
  },
});
const header = (name, change) => ({
  sent(_, headers) {
    const value = change(headers.get(name));
    if (value === undefined) headers.delete(name);
    else if (value !== null) headers.set(name, value);
  },
});
const meta = (name, value) => ({
  sent({ params }) {
    if (params?._meta?.[name] === undefined) return;
    if (value === undefined) delete params._meta[name];
    else params._meta[name] = value;
  },
});
const MODERN = "io.modelcontextprotocol/";
const responses = (is, change) => ({ sent: (message) => (isResponse(message) && is(message) ? change(message) : undefined) });

const messageBugs = {
  // Handshake.
  "version-from-nowhere": named("initialize", ({ params }) => { params.protocolVersion = "1.0"; }),
  "client-without-name": named("initialize", ({ params }) => { delete params.clientInfo.name; }),
  "client-without-version": named("initialize", ({ params }) => { delete params.clientInfo.version; }),
  "capabilities-missing": named("initialize", ({ params }) => { delete params.capabilities; }),
  "capabilities-as-flags": named("initialize", ({ params }) => { params.capabilities.sampling = true; }),
  "initialized-forgotten": named("notifications/initialized", () => false),
  "initialized-as-request": named("notifications/initialized", (message) => { message.id = "initialized"; }),
  "any-version-accepted": {
    received({ result }) {
      if (result?.protocolVersion && !/^202[456]-/.test(result.protocolVersion)) result.protocolVersion = "2025-11-25";
    },
  },
  // Ids, params, _meta.
  "ids-all-the-same": { sent: (message) => { if (isRequest(message)) message.id = 7; } },
  "ids-null": { sent: (message) => { if (isRequest(message) && message.method !== "initialize") message.id = null; } },
  "ids-with-fraction": { sent: (message) => { if (isRequest(message)) message.id += 0.5; } },
  "jsonrpc-missing": { sent: (message) => { delete message.jsonrpc; } },
  "params-as-array": { sent: (message) => { if (message.method?.endsWith("/list")) message.params = []; } },
  "result-beside-method": { sent: (message) => { if (isRequest(message)) message.result = {}; } },
  "progress-tokens-shared": meta("progressToken", "progress"),
  "meta-without-version": meta(`${MODERN}protocolVersion`),
  "meta-without-client": meta(`${MODERN}clientInfo`),
  "meta-without-capabilities": meta(`${MODERN}clientCapabilities`),
  // Pages and reads.
  "cursor-trimmed": cursors((cursor) => cursor.trim()),
  "cursor-lower-cased": cursors((cursor) => cursor.toLowerCase()),
  "cursor-escaped": cursors(encodeURIComponent),
  "empty-page-ends-list": {
    received({ result }) {
      const items = result?.resources ?? result?.tools ?? result?.prompts ?? result?.resourceTemplates;
      if (items?.length === 0) delete result.nextCursor;
    },
  },
  "empty-cursor-ends-list": { received: ({ result }) => { if (result?.nextCursor === "") delete result.nextCursor; } },
  "first-page-only": { received: ({ result }) => { if (result?.nextCursor !== undefined) delete result.nextCursor; } },
  "uri-decoded": named("resources/read", ({ params }) => { params.uri = decodeURIComponent(params.uri); }),
  "uri-without-fragment": named("resources/read", ({ params }) => { params.uri = params.uri.split("#")[0]; }),
  "uri-lower-cased": named("resources/read", ({ params }) => { params.uri = params.uri.toLowerCase(); }),
  "uri-normalized": named("resources/read", ({ params }) => { params.uri = URL.canParse(params.uri) ? new URL(params.uri).href : params.uri; }),
  // SEP-2093.
  "scope-lower-cased": scoped((params) => { params.uri = params.uri.toLowerCase(); }),
  "scope-without-slash": scoped((params) => { params.uri = params.uri.replace(/\/$/, ""); }),
  "scope-left-out-with-cursor": scoped((params) => { if (params.cursor !== undefined) delete params.uri; }),
  "contents-by-uri": contents((all) => [...new Map(all.map((one) => [one.uri, one])).values()]),
  "first-content-only": contents((all) => all.slice(0, 1)),
  "contents-joined": contents((all) => all.some(({ text }) => text === undefined) ? all : [{ ...all[0], text: all.map(({ text }) => text).join("") }].slice(0, all.length)),
  "contents-of-other-uris-dropped": contents((all) => all.filter(({ uri }) => uri === all[0].uri)),
  // Cancellation.
  "cancellation-not-sent": { ...named("notifications/cancelled", () => false), keepsStreams: true },
  "cancellation-of-next-id": named("notifications/cancelled", ({ params }) => { params.requestId += 1; }),
  "cancellation-id-as-text": named("notifications/cancelled", ({ params }) => { params.requestId = String(params.requestId); }),
  // Requests of the server, and results that ask for input.
  "unknown-request-succeeds": responses(({ error }) => error?.code === -32601, (message) => { delete message.error; message.result = {}; }),
  "unknown-request-invalid": responses(({ error }) => error?.code === -32601, ({ error }) => { error.code = -32000; }),
  "response-id-as-text": responses(() => true, (message) => { message.id = String(message.id); }),
  "response-without-jsonrpc": responses(() => true, (message) => { delete message.jsonrpc; }),
  "sampling-without-model": responses(({ result }) => result?.model, ({ result }) => { delete result.model; }),
  "roots-over-http": responses(({ result }) => result?.roots, ({ result }) => { result.roots = [{ uri: "http://localhost/" }]; }),
  "form-without-content": responses(({ result }) => result?.content && result.action, ({ result }) => { delete result.content; }),
  "form-content-as-text": responses(({ result }) => result?.content && result.action, ({ result }) => {
    result.content = Object.fromEntries(Object.entries(result.content).map(([name, value]) => [name, String(value)]));
  }),
  "form-defaults-ignored": responses(({ result }) => result?.content && result.action, ({ result }) => { result.content = {}; }),
  "state-not-returned": { sent: ({ params }) => { delete params?.requestState; } },
  "state-parsed": { sent: ({ params }) => { if (params?.requestState) params.requestState = params.requestState.trim().toLowerCase(); } },
  "state-kept": {
    sent({ params }) {
      globalThis.state = params?.requestState ?? globalThis.state;
      if (params?.name && globalThis.state) params.requestState = globalThis.state;
    },
  },
  "responses-not-returned": { sent: ({ params }) => { if (params?.inputResponses) params.inputResponses = {}; } },
  // HTTP.
  "accept-json-only": header("accept", () => "application/json"),
  "accept-anything": header("accept", () => "*/*"),
  "content-type-missing": header("content-type", () => "text/plain"),
  "version-header-missing": header("mcp-protocol-version", () => undefined),
  "version-header-of-past": header("mcp-protocol-version", (version) => version && "2025-03-26"),
  "session-forgotten": header("mcp-session-id", () => undefined),
  "session-lower-cased": header("mcp-session-id", (session) => session?.toLowerCase() ?? undefined),
  "method-header-missing": header("mcp-method", () => undefined),
  "method-header-fixed": header("mcp-method", (method) => method && "tools/list"),
  "name-header-missing": header("mcp-name", () => undefined),
  "name-header-escaped": header("mcp-name", (name) => name && encodeURIComponent(name)),
  "param-headers-missing": {
    sent(_, headers) {
      for (const name of [...headers.keys()].filter((name) => name.startsWith("mcp-param-"))) headers.delete(name);
    },
  },
  "param-headers-lower-cased": {
    sent(_, headers) {
      for (const [name, value] of [...headers].filter(([name]) => name.startsWith("mcp-param-"))) headers.set(name, value.toLowerCase());
    },
  },
  "messages-in-batches": { wrap: (message) => [message] },
  "resumes-without-last-id": { ...header("last-event-id", () => undefined) },
  "resumes-at-first-id": header("last-event-id", (id) => {
    if (id) globalThis.firstId ??= id;
    return id && globalThis.firstId;
  }),
  "retry-field-ignored": { line: (line) => (line.startsWith("retry:") ? ": retry" : line) },
  // Tools.
  "schemas-lose-keywords": {
    received({ result }) {
      for (const { inputSchema } of result?.tools ?? []) for (const key of Object.keys(inputSchema)) if (key.startsWith("$")) delete inputSchema[key];
    },
  },
  "arguments-as-text": named("tools/call", ({ params }) => { params.arguments = JSON.stringify(params.arguments ?? {}); }),
};

const BUG = process.env.BUG ?? "";
const bug = messageBugs[BUG];
if (BUG in walkBugs) {
  const pairs = JSON.stringify(walkBugs[BUG]);
  register(`data:text/javascript,${encodeURIComponent(`
    const pairs = ${pairs};
    export async function load(url, context, next) {
      const module = await next(url, context);
      if (!url.endsWith("/typescript_sdk.mjs")) return module;
      let source = String(module.source);
      for (let at = 0; at < pairs.length; at += 2) {
        if (!source.includes(pairs[at])) throw new Error("the driver does not contain " + pairs[at]);
        source = source.replace(pairs[at], () => pairs[at + 1]);
      }
      return { ...module, source };
    }`)}`);
} else if (BUG !== "" && bug === undefined) {
  throw new Error(`unknown bug ${BUG}`);
}

/** The message as the client gets it, with the id that it chose. */
function arrived(message, ids) {
  const before = ids.get(JSON.stringify(message.id ?? null));
  if (isResponse(message) && before !== undefined) message.id = before;
  bug.received?.(message);
  return message;
}

/** Events whose data are messages, a line at a time. */
function events(ids) {
  let rest = "";
  const one = (line) => {
    if (line.startsWith("data:")) {
      try {
        return `data: ${JSON.stringify(arrived(JSON.parse(line.slice(5)), ids))}`;
      } catch {}
    }
    return bug.line?.(line) ?? line;
  };
  return new TransformStream({
    transform(text, out) {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      if (lines.length > 0) out.enqueue(lines.map((line) => `${one(line)}\n`).join(""));
    },
    flush: (out) => out.enqueue(rest),
  });
}

if (bug) {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    const ids = new Map();
    let { body } = init;
    let message = {};
    try {
      message = JSON.parse(body);
    } catch {}
    if (message.jsonrpc === undefined && init.method === "POST") return real(input, init);
    const { id } = message;
    if (bug.sent?.(message, headers) === false) return new Response(null, { status: 202 });
    if (id !== message.id) ids.set(JSON.stringify(message.id), id);
    if (init.method === "POST") body = JSON.stringify(bug.wrap?.(message) ?? message);
    const signal = bug.keepsStreams && init.method === "POST" ? undefined : init.signal;
    const response = await real(input, { ...init, headers, body, signal });
    const type = response.headers.get("content-type") ?? "";
    const kept = { status: response.status, statusText: response.statusText, headers: response.headers };
    if (type.startsWith("text/event-stream") && response.body) {
      const text = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(events(ids)).pipeThrough(new TextEncoderStream());
      return new Response(text, kept);
    }
    if (!type.startsWith("application/json")) return response;
    const text = await response.text();
    try {
      return new Response(JSON.stringify(arrived(JSON.parse(text), ids)), kept);
    } catch {
      return new Response(text, kept);
    }
  };
}
