// MCPServer of @mastra/mcp 2.x. argv: a port for Streamable HTTP, none for stdio.
import { createServer } from "node:http";
import { createTool } from "@mastra/core/tools";
import { MCPServer } from "@mastra/mcp";
import { z } from "zod";

const add = createTool({
  id: "add",
  description: "Add two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b
});
const measure = createTool({
  id: "measure",
  description: "Count the characters and words of a text",
  inputSchema: z.object({ text: z.string() }),
  outputSchema: z.object({ characters: z.number(), words: z.number() }),
  execute: async ({ text }) => ({ characters: text.length, words: text.split(/\s+/).filter(Boolean).length })
});
const server = new MCPServer({
  id: "quickstart",
  name: "quickstart",
  version: "1.0.0",
  tools: { add, measure },
  resources: {
    listResources: async () => [{ uri: "info://about", name: "about", description: "What this server is", mimeType: "text/plain" }],
    resourceTemplates: async () => [{ uriTemplate: "greeting://{name}", name: "greeting", description: "A greeting for somebody" }],
    getResourceContent: async ({ uri }) => {
      if (uri === "info://about") return { text: "A quickstart server." };
      const name = /^greeting:\/\/([^/]+)$/.exec(uri)?.[1];
      if (name) return { text: `Hello, ${decodeURIComponent(name)}!` };
      throw new Error(`Resource not found: ${uri}`);
    }
  },
  prompts: {
    listPrompts: async () => [{ name: "introduce", description: "Introduce somebody", arguments: [{ name: "name", required: true }] }],
    getPromptMessages: async ({ args }) => [{ role: "user", content: { type: "text", text: `Introduce ${args?.name} in one sentence.` } }]
  }
});

const port = process.argv[2];
if (!port) await server.startStdio();
else {
  const handle = (req, res) => server.startHTTP({ url: new URL(req.url, `http://127.0.0.1:${port}`), httpPath: "/mcp", req, res });
  createServer(handle).listen(Number(port), "127.0.0.1");
}
