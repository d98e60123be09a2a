/** Every method of the unmodified Java client, found by reflection, against a running service. */
import { join } from 'node:path'
import { test } from 'vitest'
import { besideSuites, expectReport, keptFolder, reasonAgainst, run } from './published.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { ADMIN_KEY, API_KEY, startedService } from '#testing/processes/running-service.ts'

const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

test('every method of the Java client works', async context => {
  const libraries = keptFolder('java-2.2.5')
  const words = ['--batch-mode', '--quiet', COPY, `-DoutputDirectory=${libraries}`]
  const reason = await reasonAgainst(async () => {
    await run('java', ['-version'])
    await run('mvn', words, { in: besideSuites('java') })
  })
  if (reason !== null) return context.skip(`the Java client is not available: ${reason}`)
  const service = await startedService({ opaPort: await freePort() })
  const opa = `http://127.0.0.1:${service.settings.opaPort}`
  const program = besideSuites('java/Drive.java')
  const places = [service.address, API_KEY, ADMIN_KEY, opa]
  const report = await run('java', ['-cp', join(libraries, '*'), program, ...places])
  const subject = { name: 'Java, `permit-sdk-java` 2.2.5', suite: 'Java', file: 'java.test.ts', known: {} }
  expectReport(subject, report)
})
