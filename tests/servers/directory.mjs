// A real directory as resources, after SEP-2093, on the low-level Server of @modelcontextprotocol/sdk 1.x.
// A symbolic link stands for what it points to, so that a link to a folder above makes a cycle; with --by-place it has a
// URI of its own, and the same link leads ever deeper. Usage: node directory.mjs FOLDER [--by-place]
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ErrorCode, McpError, ReadResourceRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const root = await realpath(process.argv[2] ?? ".");
const byPlace = process.argv.includes("--by-place");
const PAGE = 4;
const TYPES = { ".md": "text/markdown", ".txt": "text/plain", ".json": "application/json", ".png": "image/png" };

const notFound = (uri) => new McpError(-32002, "Resource not found", { uri });

// The path behind a URI, if it is inside of the folder and exists.
async function locate(uri) {
  let place;
  try {
    place = path.resolve(fileURLToPath(uri));
  } catch {
    throw notFound(uri);
  }
  const inside = place === root || place.startsWith(root + path.sep);
  const info = inside ? await stat(place).catch(() => null) : null;
  if (!info) throw notFound(uri);
  return { place, info };
}

function describe({ place, info }) {
  const folder = info.isDirectory();
  const mimeType = folder ? "inode/directory" : TYPES[path.extname(place)] ?? "application/octet-stream";
  return {
    uri: pathToFileURL(place).href,
    name: path.basename(place),
    mimeType,
    ...(folder ? {} : { size: info.size }),
    annotations: { lastModified: info.mtime.toISOString() },
    capabilities: { list: folder, subscribe: false },
  };
}

async function children(place) {
  const names = (await readdir(place)).sort();
  const entries = names.map(async (name) => {
    const link = path.join(place, name);
    const child = byPlace ? link : await realpath(link);
    const info = await stat(child).catch(() => null); // too many links in a row, or none at the end
    return info && (child === root || child.startsWith(root + path.sep)) ? { place: child, info } : null;
  });
  return (await Promise.all(entries)).filter(Boolean);
}

async function list({ params }) {
  let top = [{ place: root, info: await stat(root) }];
  if (params?.uri !== undefined) {
    const parent = await locate(params.uri);
    if (!parent.info.isDirectory()) throw new McpError(ErrorCode.InvalidParams, "Not a directory", { uri: params.uri });
    top = await children(parent.place);
  }
  const start = params?.cursor === undefined ? 0 : Number(params.cursor);
  if (!Number.isInteger(start) || start < 0 || start > top.length) {
    throw new McpError(ErrorCode.InvalidParams, "Unknown cursor");
  }
  const end = start + PAGE;
  return {
    resources: top.slice(start, end).map(describe),
    ...(end < top.length ? { nextCursor: String(end) } : {}),
  };
}

async function read({ params: { uri } }) {
  const found = await locate(uri);
  const self = describe(found);
  if (found.info.isDirectory()) {
    const text = (await children(found.place)).map((child) => path.basename(child.place)).join("\n");
    return { contents: [{ ...self, mimeType: "text/plain", text }] };
  }
  const bytes = await readFile(found.place);
  const textual = self.mimeType.startsWith("text/") || self.mimeType === "application/json";
  return { contents: [{ ...self, ...(textual ? { text: bytes.toString() } : { blob: bytes.toString("base64") }) }] };
}

const server = new Server({ name: "directory", version: "1.0.0" }, { capabilities: { resources: {} } });
const scoped = z.object({ uri: z.string().optional(), cursor: z.string().optional() }).passthrough().optional();
server.setRequestHandler(z.object({ method: z.literal("resources/list"), params: scoped }), list);
server.setRequestHandler(ReadResourceRequestSchema, read);
server.setRequestHandler(
  z.object({ method: z.literal("resources/metadata"), params: z.object({ uri: z.string() }).passthrough() }),
  async ({ params: { uri } }) => ({ resource: describe(await locate(uri)) }),
);
await server.connect(new StdioServerTransport());
