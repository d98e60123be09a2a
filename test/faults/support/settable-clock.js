/**
 * Loaded into a node in front of everything else (`NODE_OPTIONS`), threads included: sets its clock on the wall by as many
 * milliseconds as the file CLOCK_OFFSET_FILE says at the moment. The clock that measures time is left alone, as it is when
 * a machine's clock is set.
 */
import { readFileSync } from 'node:fs'

const file = process.env['CLOCK_OFFSET_FILE'] ?? ''
const trueNow = Date.now

Date.now = () => trueNow() + Number(readFileSync(file, 'utf8'))
