// A window on a shop as the SDK of MCP Apps has servers in its introduction, which commits the fault that FAULT names.
import { EXTENSION_ID, RESOURCE_MIME_TYPE, registerAppResource, registerAppTool } from "@modelcontextprotocol/ext-apps/server";
import { McpServer, ProtocolError } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { planted } from "./shelf.mjs";

const text = (value) => ({ type: "text", text: value });
const SALES = "ui://shop/sales.html";
const MAP = "ui://shop/map.html";
const CDN = "https://cdn.example.com";
const reads = { readOnlyHint: true };
const either = (faults, usual) => {
  const name = Object.keys(faults).find(planted);
  return name ? faults[name] : usual;
};
let calls = 0, read = 0, listed = 0, firstClient;

const page = (body, head = "") => `<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Shop</title>${head}</head><body>${body}</body></html>
`;

function document() {
  const cdn = `<link rel="stylesheet" href="${CDN}/chart.css"><script src="${CDN}/chart.js"></script>`;
  const font = planted("font-undeclared") ? "<style>@font-face { font-family: x; src: url(https://fonts.example.org/x.woff2) }</style>" : "";
  const frame = planted("frame-among-resources") ? `<iframe src="${CDN}/frame"></iframe>` : "";
  const usual = page(`<div id="chart">${frame}</div><script>console.log("https://example.org")</script>`, cdn + font);
  const when = planted("time-in-page") ? page(`<p>${process.hrtime.bigint()}</p>`) : usual;
  const unused = planted("page-from-call") && calls === 0 ? "" : when;
  return either({ "fragment-served": '<main id="chart"></main>', "page-as-markdown": "# Sales\n\nNone.", "page-of-other-encoding": usual.replace("utf-8", "windows-1252") }, unused);
}

function policy() {
  const usual = { connectDomains: ["https://api.example.com"], resourceDomains: planted("cdn-undeclared") ? [] : [CDN] };
  return either({
    "policy-as-text": "default-src 'none'",
    "policy-list-as-text": { ...usual, connectDomains: "https://api.example.com" },
    "policy-with-null": { ...usual, frameDomains: [null] },
    "policy-in-other-case": { ...usual, connect_domains: ["https://api.example.com"] },
    "policy-with-bare-host": { ...usual, connectDomains: ["api.example.com"] },
    "policy-with-path": { ...usual, connectDomains: ["https://api.example.com/v2"] },
    "policy-injected": { ...usual, connectDomains: ["https://api.example.com;script-src *"] },
    "policy-with-eval": { ...usual, resourceDomains: [CDN, "'unsafe-eval'"] },
  }, usual);
}

function metadata() {
  const usual = { csp: policy(), prefersBorder: true };
  if (planted("policy-listed-only")) delete usual.csp;
  return either({
    "metadata-as-text": "csp",
    "border-as-text": { ...usual, prefersBorder: "no" },
    "domain-as-list": { ...usual, domain: ["shop.example.com"] },
    "domain-as-url": { ...usual, domain: "https://shop.example.com" },
    "permissions-as-list": { ...usual, permissions: ["camera"] },
    "permission-as-flag": { ...usual, permissions: { microphone: true } },
    "permission-unknown": { ...usual, permissions: { clipboardRead: {} } },
  }, usual);
}

function contents(uri) {
  read += 1;
  const mimeType = either({ "type-without-profile": "text/html", "type-of-draft": "text/html+mcp", "type-with-charset-alone": "text/html;charset=utf-8" }, RESOURCE_MIME_TYPE);
  const element = { uri: planted("uri-of-file") ? "file:///app/dist/sales.html" : uri, mimeType, text: document(), _meta: { ui: metadata() } };
  if (planted("page-in-html-field")) element.html = element.text, delete element.text;
  if (planted("blob-in-latin-1")) element.blob = Buffer.from(page("<p>Größe</p>"), "latin1").toString("base64"), delete element.text;
  if (planted("blob-as-data-url")) element.blob = `data:text/html;base64,${Buffer.from(page("x")).toString("base64")}`, delete element.text;
  const result = { contents: [element] };
  if (planted("style-as-second-element")) result.contents.push({ uri: "ui://shop/sales.css", mimeType: "text/css", text: "p {}" });
  if (planted("nothing-read")) result.contents = [];
  if (planted("metadata-beside-contents")) result._meta = { ui: element._meta.ui }, delete element._meta;
  return result;
}

function sales() {
  calls += 1;
  const data = { total: 1024, currency: "EUR" };
  const link = { type: "resource_link", uri: SALES, name: "sales" };
  const content = either({ "content-empty": [], "content-blank": [text("")], "content-as-page": [text(page("<p>1024</p>"))], "content-as-link": [link], "content-terse": [text("ok")] }, [text(`Sales: ${JSON.stringify(data)}`)]);
  return { content, _meta: { data } };
}

const uiOfSales = () => either({
  "fields-as-text": SALES,
  "fields-as-list": [{ resourceUri: SALES }],
  "uri-as-object": { resourceUri: { href: SALES } },
  "uri-empty": { resourceUri: "" },
  "uri-of-web": { resourceUri: "https://shop.example.com/sales.html" },
  "uri-with-variable": { resourceUri: "ui://shop/{page}.html" },
  "uri-misspelled": { resourceUri: "ui://shop/sale.html" },
  "policy-on-tool": { resourceUri: SALES, csp: { connectDomains: [] } },
}, { resourceUri: SALES });

const visibility = () => either({ "visibility-as-text": "app", "visibility-of-user": ["user"], "visibility-none": [] }, ["app"]);

/** What a request handler does first, or instead. */
function around(server, method, change) {
  const handlers = server.server._requestHandlers;
  const usual = handlers.get(method);
  handlers.set(method, (request, ctx) => change(() => usual(request, ctx), request, ctx));
}

const shows = (ctx) => ctx.mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"]?.extensions?.[EXTENSION_ID];

serveStdio(() => {
  const declared = planted("declared-as-experiment") ? { experimental: { [EXTENSION_ID]: {} } } : planted("undeclared") ? {} : { extensions: { [EXTENSION_ID]: {} } };
  const server = new McpServer({ name: "window", version: "1.0.0" }, { capabilities: declared });
  const annotations = reads;
  const common = { description: "Shows the sales.", annotations, inputSchema: z.object({}) };
  if (planted("deprecated-key-only")) server.registerTool("sales", { ...common, _meta: { "ui/resourceUri": SALES } }, sales);
  else registerAppTool(server, "sales", { ...common, _meta: { ui: uiOfSales() } }, sales);
  registerAppTool(server, "refresh", { description: "Shows them again.", annotations, inputSchema: z.object({}), _meta: { ui: { resourceUri: SALES, visibility: visibility() } } }, () => {
    if (planted("app-tool-rejected")) throw new ProtocolError(-32602, "refresh is not available to models");
    return { content: [text("The sales are the same as before.")] };
  });
  registerAppTool(server, "map", { description: "Shows where.", annotations, inputSchema: z.object({}), _meta: { ui: { resourceUri: MAP } } }, () => ({ content: [text("Most were sold in the north.")] }));
  server.registerTool("notes", { description: "Shows notes.", annotations, inputSchema: z.object({}) }, () => {
    const embedded = { type: "resource", resource: { uri: MAP, mimeType: RESOURCE_MIME_TYPE, text: page("<p>x</p>") } };
    return { content: [text("There are no notes today."), ...(planted("page-embedded") ? [embedded] : [])] };
  });
  const listing = planted("policy-listed-only") ? { _meta: { ui: { csp: policy() } } } : {};
  registerAppResource(server, "sales", SALES, listing, (uri) => contents(uri.href));
  registerAppResource(server, "map", MAP, planted("listed-as-html") ? { mimeType: "text/html" } : {}, (uri) => ({ contents: [{ uri: uri.href, mimeType: RESOURCE_MIME_TYPE, text: page("<p>North</p>") }] }));
  const plain = (name, uri, mimeType, value) => server.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, text: value }] }));
  if (planted("data-under-ui")) plain("prices", "ui://shop/prices.json", "application/json", "[]");
  if (planted("profile-elsewhere")) plain("web", "https://shop.example.com/", RESOURCE_MIME_TYPE, page("<p>x</p>"));

  around(server, "tools/list", async (usual, request, ctx) => {
    listed += 1;
    const result = await usual();
    const fields = (wanted) => {
      if (!wanted) for (const tool of result.tools) delete tool._meta;
      return result;
    };
    const client = shows(ctx);
    firstClient ??= { client };
    if (planted("list-fails-without-apps") && !client) throw new ProtocolError(-32603, "no apps");
    if (planted("first-client-decides")) return fields(firstClient.client);
    if (planted("types-unread")) return fields(client);
    if (planted("first-type-counts")) return fields(client?.mimeTypes?.[0] === RESOURCE_MIME_TYPE);
    if (planted("fields-for-all", "undeclared", "declared-as-experiment")) return result;
    if (planted("second-list-plain") && listed > 1) return fields(false);
    if (planted("deprecated-key-of-older")) result.tools[0]._meta["ui/resourceUri"] = MAP;
    // In a session the SDK does not say here what the client declared.
    return ctx.mcpReq.envelope ? fields(client?.mimeTypes?.includes(RESOURCE_MIME_TYPE)) : result;
  });
  around(server, "tools/call", (usual, request, ctx) => {
    if (planted("call-needs-apps") && ctx.mcpReq.envelope && !shows(ctx)) return { content: [text("Only for hosts with apps.")], isError: true };
    return usual();
  });
  around(server, "resources/read", (usual, { params: { uri } }) => {
    if (planted("page-for-every-uri") && uri.startsWith("ui://")) return { contents: [{ uri, mimeType: RESOURCE_MIME_TYPE, text: page("<p>404</p>") }] };
    if (planted("page-after-call") && uri === SALES && calls === 0) throw new ProtocolError(-32602, "not built yet");
    if (planted("page-after-list") && uri === SALES && listed === 0) throw new ProtocolError(-32602, "unknown resource");
    return usual();
  });
  if (planted("host-methods-served")) server.server.fallbackRequestHandler = async () => ({ hostInfo: { name: "window", version: "1" } });
  if (planted("log-is-fatal")) server.server.fallbackNotificationHandler = async ({ method }) => method === "notifications/message" && process.exit(1);
  return server;
});
