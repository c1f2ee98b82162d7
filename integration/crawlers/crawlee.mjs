// A crawlee crawler that follows every link: crawlee.mjs STARTS obey|ignore [USER-AGENT [TOKEN]].
import { readFileSync } from 'node:fs';
import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio';

const [starts, mode, userAgent, token] = process.argv.slice(2);
log.setLevel(log.LEVELS.OFF);
const crawler = new CheerioCrawler({
	respectRobotsTxtFile: mode === 'obey' && (token ? { userAgent: token } : true),
	preNavigationHooks: userAgent ? [(_, got) => {
		got.useHeaderGenerator = false;
		got.headers = { ...got.headers, 'User-Agent': userAgent };
	}] : [],
	additionalMimeTypes: ['application/pdf', 'application/octet-stream', 'text/plain'],
	ignoreHttpErrorStatusCodes: [403, 404],
	maxRequestRetries: 0,
	useSessionPool: false,
	minConcurrency: 8,
	maxConcurrency: 8,
	maxCrawlDepth: 2,
	requestHandler: ({ enqueueLinks }) => enqueueLinks({ strategy: 'same-hostname' }),
	failedRequestHandler: () => {}, // such as a page that is not HTML
}, new Configuration({ persistStorage: false }));
await crawler.run(readFileSync(starts, 'utf8').trim().split('\n'));
