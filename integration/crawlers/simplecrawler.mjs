// A simplecrawler for each site: simplecrawler.mjs STARTS obey|ignore [USER-AGENT].
import { readFileSync } from 'node:fs';
import Crawler from 'simplecrawler';

const [starts, mode, userAgent] = process.argv.slice(2);
for (const start of readFileSync(starts, 'utf8').trim().split('\n')) {
	await new Promise((done) => {
		const crawler = new Crawler(start);
		crawler.interval = 1;
		crawler.maxConcurrency = 4;
		crawler.maxDepth = 2;
		crawler.respectRobotsTxt = mode === 'obey';
		if (userAgent) crawler.userAgent = userAgent;
		crawler.on('complete', done);
		crawler.start();
	});
}
