/** Part 3 of 4 of the properties on many random values. */
import { manyRuns } from './many-runs.ts'

manyRuns(2)
