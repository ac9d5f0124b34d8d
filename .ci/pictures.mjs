// The first screen of an HTML report, light and dark. Usage: node pictures.mjs REPORT.html DIRECTORY
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, directory] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
});
for (const colorScheme of ["light", "dark"]) {
  const context = await browser.newContext({ viewport: { width: 900, height: 640 }, colorScheme });
  const page = await context.newPage();
  await page.goto(pathToFileURL(report).href);
  await page.screenshot({ path: `${directory}/html-${colorScheme}.png` });
}
await browser.close();
