"""What the tests of passes share: the second judge."""

from tests.helpers.second_judge import second_judge as second_judge
