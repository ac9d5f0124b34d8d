import { type XmcpConfig } from "xmcp";

const config: XmcpConfig = { stdio: true };
export default config;
