from .compare import Comparison as Comparison
from .compare import compare as compare
from .explain import Explanation as Explanation
from .explain import explain as explain
from .rerun import Repetition as Repetition
from .rerun import rerun as rerun
from .select import select as select
from .selection import Selection as Selection
