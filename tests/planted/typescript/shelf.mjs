// What both shelves hold, and the fault that they have to commit: the variable FAULT names it.
import { readFileSync } from "node:fs";
import path from "node:path";

export const planted = (...faults) => faults.includes(process.env.FAULT);
export const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const read = { readOnlyHint: true };
const nothing = { type: "object", additionalProperties: false };
const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

export const files = new Map(
  ["one", "two", "three", "four"].map((name) => [`shelf://files/${name}`, { mimeType: "text/plain", text: `The file ${name}\n` }]),
);
files.set("shelf://files/plan.json", { mimeType: "application/json", text: '{"files": 4}' });
files.set("shelf://files/seal.png", { mimeType: "image/png", bytes: PICTURE });
files.set("shelf://files/data", { mimeType: "application/octet-stream", bytes: Buffer.from([0, 159, 146, 150, 255, 1]) });
files.set("shelf://all", { mimeType: "text/plain", text: "" });

// A file of the disk under the name that the URI gives, wherever that leads.
function below(name) {
  try {
    return { mimeType: "text/plain", text: readFileSync(path.join("/srv/shelf/files", name), "utf8") };
  } catch {
    return undefined;
  }
}

// The file behind a URI.
export function locate(uri) {
  if (planted("decoded-twice")) return files.get(decodeURIComponent(decodeURIComponent(uri)));
  const name = uri.startsWith("shelf://files/") ? uri.slice(14) : undefined;
  if (planted("out-by-dots") && name) return files.get(uri) ?? below(name);
  if (planted("out-by-escaped-dots") && name) return files.get(uri) ?? below(decodeURIComponent(name));
  return files.get(uri);
}

const find = planted("reference-to-nowhere") ? { ...named, properties: { name: { $ref: "#/$defs/name" } } } : named;
export const TOOLS = [
  { name: "find", inputSchema: find, annotations: read },
  { name: "sort", inputSchema: nothing, annotations: read, execution: { taskSupport: "optional" } },
  { name: "judge", inputSchema: nothing, annotations: read },
  { name: "lost", inputSchema: nothing, annotations: read },
  { name: planted("name-with-space") ? "show picture" : "picture", inputSchema: nothing, annotations: read },
  { name: "touch", inputSchema: named },
  { name: "link", inputSchema: nothing, annotations: planted("hint-as-text") ? { readOnlyHint: true, idempotentHint: "yes" } : read },
];
