import { type ResourceMetadata } from "xmcp";

export const metadata: ResourceMetadata = { name: "about", description: "What this server is", mimeType: "text/plain" };

export default function about() {
  return "A quickstart server.";
}
